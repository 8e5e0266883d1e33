#pragma once

/// The whole library but for the component `data`, whose headers are in bntt/data/.

#include "bntt/batch.h"
#include "bntt/break_even.h"
#include "bntt/buffer.h"
#include "bntt/encoder.h"
#include "bntt/error.h"
#include "bntt/images.h"
#include "bntt/input_spec.h"
#include "bntt/load.h"
#include "bntt/model.h"
#include "bntt/network.h"
#include "bntt/network_spec.h"
#include "bntt/norm_state.h"
#include "bntt/parameter.h"
#include "bntt/precision.h"
#include "bntt/session.h"
#include "bntt/shape.h"
#include "bntt/signal.h"
#include "bntt/threads.h"
#include "bntt/version.h"
#include "bntt/zoo.h"
