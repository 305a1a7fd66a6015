// SPDX-License-Identifier: MIT
// The names of the settings of each estimator: those of scikit-learn.
#pragma once

#include "ml/archive.h"
#include "ml/cluster/kmeans.h"
#include "ml/cluster/mini_batch_kmeans.h"
#include "ml/decomposition/cca.h"
#include "ml/decomposition/incremental_pca.h"
#include "ml/decomposition/pca.h"
#include "ml/ensemble/random_forest.h"
#include "ml/linear/elastic_net.h"
#include "ml/linear/linear_regression.h"
#include "ml/linear/logistic_regression.h"
#include "ml/linear/ridge.h"
#include "ml/linear/sgd.h"
#include "ml/mixture/gaussian_mixture.h"
#include "ml/naive_bayes/gaussian_nb.h"
#include "ml/naive_bayes/multinomial_nb.h"
#include "ml/neighbors/kneighbors.h"
#include "ml/neighbors/radius_neighbors.h"
#include "ml/online/confidence.h"
#include "ml/online/passive_aggressive.h"
#include "ml/online/perceptron.h"
#include "ml/preprocessing/min_max_scaler.h"
#include "ml/preprocessing/standard_scaler.h"
#include "ml/svm/svc.h"
#include "ml/svm/svr.h"
#include "ml/tree/decision_tree.h"

namespace kaiseki::ml {

// Each names all settings that files keep. Starts that are tensors are no settings of a file.
void describe(Archive& archive, LinearRegressionOptions& o);
void describe(Archive& archive, RidgeOptions& o);
void describe(Archive& archive, LassoOptions& o);
void describe(Archive& archive, ElasticNetOptions& o);
void describe(Archive& archive, LogisticRegressionOptions& o);
void describe(Archive& archive, SGDClassifierOptions& o);
void describe(Archive& archive, SGDRegressorOptions& o);
void describe(Archive& archive, PerceptronOptions& o);
void describe(Archive& archive, PassiveAggressiveOptions& o);
void describe(Archive& archive, PassiveAggressiveRegressorOptions& o);
void describe(Archive& archive, ConfidenceWeightedOptions& o);
void describe(Archive& archive, SoftConfidenceWeightedOptions& o);
void describe(Archive& archive, AROWOptions& o);
void describe(Archive& archive, NHERDOptions& o);
void describe(Archive& archive, GaussianNBOptions& o);
void describe(Archive& archive, MultinomialNBOptions& o);
void describe(Archive& archive, KNeighborsOptions& o);
void describe(Archive& archive, RadiusNeighborsOptions& o);
void describe(Archive& archive, RadiusNeighborsClassifierOptions& o);
void describe(Archive& archive, SVCOptions& o);
void describe(Archive& archive, SVROptions& o);
void describe(Archive& archive, DecisionTreeClassifierOptions& o);
void describe(Archive& archive, DecisionTreeRegressorOptions& o);
void describe(Archive& archive, RandomForestClassifierOptions& o);
void describe(Archive& archive, RandomForestRegressorOptions& o);
void describe(Archive& archive, KMeansOptions& o);
void describe(Archive& archive, MiniBatchKMeansOptions& o);
void describe(Archive& archive, GaussianMixtureOptions& o);
void describe(Archive& archive, CCAOptions& o);
void describe(Archive& archive, PCAOptions& o);
void describe(Archive& archive, IncrementalPCAOptions& o);
void describe(Archive& archive, StandardScalerOptions& o);
void describe(Archive& archive, MinMaxScalerOptions& o);

}  // namespace kaiseki::ml
