// SPDX-License-Identifier: MIT
// AuthorApi: projects, tasks, tickets, results and nodes over HTTP as JSON (docs/openapi.yaml).
#pragma once

#include "dist/net/curves.h"
#include "dist/net/http.h"
#include "dist/net/shared_text.h"
#include "dist/pool/pool.h"

namespace kaiseki::dist {

class AuthorApi {
 public:
  /// `clock` is any, in seconds. All must outlive it.
  AuthorApi(Pool& pool, BlobStore& blobs, std::function<double()> clock)
      : pool_(pool), blobs_(blobs), clock_(std::move(clock)) {}

  /// A request below /api/ whose token is fine. Throws ParseError and Error for what is wrong with
  /// it.
  HttpResponse answer(const HttpRequest& request);
  HttpResponse put_blob(const HttpRequest& request, const BlobHash& hash);

 private:
  HttpResponse tasks() const;
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
  const std::function<double()> clock_;
  Curves curves_;
  SharedText nodes_{kShownSeconds}, able_{kShownSeconds};  // all, those with one function
};

}  // namespace kaiseki::dist
