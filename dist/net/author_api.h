// SPDX-License-Identifier: MIT
// AuthorApi: projects, tasks, tickets, results and nodes over HTTP as JSON (docs/openapi.yaml).
#pragma once

#include "dist/net/curves.h"
#include "dist/net/history.h"
#include "dist/net/http.h"
#include "dist/net/shared_text.h"
#include "dist/pool/pool.h"

namespace kaiseki::dist {

class AuthorApi {
 public:
  /// `clock` returns seconds of any clock. All arguments must outlive this.
  AuthorApi(Pool& pool, BlobStore& blobs, const History& history, Curves& curves,
            std::function<double()> clock)
      : pool_(pool), blobs_(blobs), history_(history), curves_(curves), clock_(std::move(clock)) {}

  /// Answers a request below /api/ with a valid token. Throws ParseError or Error if the request is
  /// invalid.
  HttpResponse answer(const HttpRequest& request);
  /// The project was removed.
  void forget(ProjectId project) { curves_.forget(project); }
  HttpResponse put_blob(const HttpRequest& request, const BlobHash& hash);

 private:
  HttpResponse tasks() const;
  HttpResponse history(const HttpRequest& request) const;
  HttpResponse projects(const HttpRequest& request);
  HttpResponse project(const HttpRequest& request, ProjectId id, const std::string& what);
  HttpResponse curve(const HttpRequest& request, ProjectId id);
  HttpResponse task(const HttpRequest& request, TaskId id, const std::string& what);
  HttpResponse change(const HttpRequest& request, TaskId id);
  HttpResponse results(const HttpRequest& request, TaskId id);
  HttpResponse nodes(const HttpRequest& request, const std::string& id);
  HttpResponse all_nodes(const std::string& function);

  Pool& pool_;
  BlobStore& blobs_;
  const History& history_;
  Curves& curves_;
  const std::function<double()> clock_;
  SharedText nodes_{kShownSeconds},
      able_{kShownSeconds};  // lists of all nodes, of nodes with a function
};

}  // namespace kaiseki::dist
