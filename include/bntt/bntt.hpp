#pragma once

/// \file
/// The whole library except the component `data`, whose headers are in bntt/data/.

/// Spiking networks: descriptions, training and inference.
namespace bntt {}

#include "bntt/batch.h"
#include "bntt/batch_norms.h"
#include "bntt/break_even.h"
#include "bntt/buffer.h"
#include "bntt/declaration.h"
#include "bntt/encoder.h"
#include "bntt/error.h"
#include "bntt/images.h"
#include "bntt/input_spec.h"
#include "bntt/kind_info.h"
#include "bntt/learning_rate.h"
#include "bntt/load.h"
#include "bntt/loss.h"
#include "bntt/model.h"
#include "bntt/network.h"
#include "bntt/network_spec.h"
#include "bntt/norm.h"
#include "bntt/norm_state.h"
#include "bntt/optimizer.h"
#include "bntt/parameter.h"
#include "bntt/precision.h"
#include "bntt/samples.h"
#include "bntt/session.h"
#include "bntt/shape.h"
#include "bntt/signal.h"
#include "bntt/threads.h"
#include "bntt/trainer.h"
#include "bntt/version.h"
#include "bntt/zoo.h"
