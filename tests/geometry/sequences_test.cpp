#include "geometry/check.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Draw, geometry::Registered;
using nn::Value;

namespace {

void draw_recurrent(Draw& d) {
  d.extent("steps", 40);
  d.extent("features", 40);
  d.extent("hidden", 40);
  d.one_of("layers", {1, 1, 1, 2, 3});
  d.once_in("bidirectional", 3);
  d.pick("bias", 0, 1);
  d.once_in("last", 3);
}
Sizes steps(const Configuration& c) {
  return {c["steps"], c["features"]};
}
// Output and last states in one array, or the last states alone.
Value results(const Configuration& c, std::vector<Value> values) {
  if (c["last"]) return flatten(values.back());
  for (Value& value : values)
    value = flatten(value);
  return cat(values, 1);
}
template <class Options>
Options options(const Configuration& c) {
  Options options;
  options.num_layers = static_cast<int>(c["layers"]);
  options.bias = c["bias"] == 1;
  options.bidirectional = c["bidirectional"] == 1;
  return options;
}

const Registered lstm_family("lstm", draw_recurrent, steps,
                             [](const Value& x, const Configuration& c) {
                               const auto [y, h, cell] =
                                   lstm(x, c["hidden"], options<nn::LSTMOptions>(c));
                               return results(c, {y, h, cell});
                             });
const Registered gru_family("gru", draw_recurrent, steps,
                            [](const Value& x, const Configuration& c) {
                              const auto [y, h] = gru(x, c["hidden"], options<nn::GRUOptions>(c));
                              return results(c, {y, h});
                            });
const Registered rnn_family(
    "rnn",
    [](Draw& d) {
      draw_recurrent(d);
      d.pick("relu", 0, 1);
    },
    steps,
    [](const Value& x, const Configuration& c) {
      nn::RNNOptions of = options<nn::RNNOptions>(c);
      if (c["relu"]) of.nonlinearity = "relu";
      const auto [y, h] = rnn(x, c["hidden"], of);
      return results(c, {y, h});
    });

// Returns the mask that ignores keys with a first feature above the first key's.
Value padding_mask(const Value& keys) {
  const Value numbers = flatten(narrow(keys, 2, 0, 1));
  return relu(numbers - narrow(numbers, 1, 0, 1));
}

// Query, key, value and the mask are parts of the input, one after another.
const Registered attention_family(
    "attention",
    [](Draw& d) {
      d.extent("heads", 6);
      d.extent("queries", 70);
      d.extent("keys", 70);
      d.extent("dim", 40);
      d.extent("value_dim", 40);
      d.once_in("causal", 3);
      d.once_in("masked", 2);
    },
    [](const Configuration& c) {
      return Sizes{c["heads"] *
                       (c["queries"] * c["dim"] + c["keys"] * (c["dim"] + c["value_dim"])) +
                   c["masked"] * c["keys"]};
    },
    [](const Value& x, const Configuration& c) {
      const index_t heads = c["heads"], queries = c["queries"], keys = c["keys"], dim = c["dim"];
      const index_t q = heads * queries * dim, k = heads * keys * dim,
                    v = heads * keys * c["value_dim"];
      nn::AttentionOptions options{.is_causal = c["causal"] == 1};
      if (c["masked"]) options.key_padding_mask = relu(narrow(x, 1, q + k + v, keys));
      return scaled_dot_product_attention(
          reshape(narrow(x, 1, 0, q), {heads, queries, dim}),
          reshape(narrow(x, 1, q, k), {heads, keys, dim}),
          reshape(narrow(x, 1, q + k, v), {heads, keys, c["value_dim"]}), options);
    });

const Registered multihead_attention_family(
    "multihead_attention",
    [](Draw& d) {
      d.set("embed", d.extent("heads", 5) * d.extent("dim", 20));
      d.extent("queries", 40);
      d.once_in("itself", 2);
      d.extent("keys", 40);
      d.once_in("causal", 3);
      d.pick("bias", 0, 1);
      d.once_in("masked", 2);
    },
    [](const Configuration& c) {
      return Sizes{c["queries"] + (c["itself"] ? 0 : c["keys"]), c["embed"]};
    },
    [](const Value& x, const Configuration& c) {
      const Value query = narrow(x, 1, 0, c["queries"]);
      const Value memory = c["itself"] ? query : narrow(x, 1, c["queries"], c["keys"]);
      nn::MultiheadAttentionOptions options{.is_causal = c["causal"] == 1, .bias = c["bias"] == 1};
      if (c["masked"]) options.key_padding_mask = padding_mask(memory);
      return multihead_attention(query, memory, c["heads"], options);
    });

const Registered decoder_family(
    "transformer_decoder_layer",
    [](Draw& d) {
      d.set("embed", d.extent("heads", 4) * d.extent("dim", 8, 2));
      d.extent("length", 20);
      d.extent("memory", 20);
      d.extent("feedforward", 40);
      d.pick("norm_first", 0, 1);
      d.pick("causal", 0, 1);
      d.pick("masked", 0, 3);  // a bit for the target and one for the memory
    },
    [](const Configuration& c) {
      return Sizes{c["length"] + c["memory"], c["embed"]};
    },
    [](const Value& x, const Configuration& c) {
      const Value target = narrow(x, 1, 0, c["length"]),
                  memory = narrow(x, 1, c["length"], c["memory"]);
      nn::TransformerDecoderOptions options{.dim_feedforward = c["feedforward"],
                                            .dropout = 0,
                                            .norm_first = c["norm_first"] == 1,
                                            .tgt_is_causal = c["causal"] == 1};
      if (c["masked"] & 1) options.tgt_key_padding_mask = padding_mask(target);
      if (c["masked"] & 2) options.memory_key_padding_mask = padding_mask(memory);
      return transformer_decoder_layer(target, memory, c["heads"], options);
    },
    [](const Configuration&) { return 30.0; });  // LayerNorm of two numbers that are almost equal

const struct Embeddings {
  Embeddings() {
    geometry::Family family;
    family.draw = [](Draw& d) {
      d.batch();
      d.extent("tokens", 70);
      d.extent("rows", 70);
      d.extent("dim", 70);
    };
    family.input = [](const Configuration& c) {
      return Sizes{c["tokens"]};
    };
    family.graph = [](geometry::Backend backend, const Configuration& c) {
      auto f = [&](const Value& x) {
        return embedding(x, c["rows"], c["dim"]);
      };
      return nn::detail::graph_of_function(backend, f, {Sizes{c["tokens"]}});
    };
    family.indices = [](const Configuration& c) {
      return c["rows"];
    };
    geometry::families()["embedding"] = family;
  }
} embeddings;

}  // namespace

TEST_CASE_TEMPLATE("random geometries of recurrent layers", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"lstm", "gru", "rnn"});
}
TEST_CASE_TEMPLATE("random geometries of attention", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"attention", "multihead_attention", "transformer_decoder_layer"});
}
TEST_CASE_TEMPLATE("random geometries of embeddings", D, GPUNET_TEST_DEVICES) {
  geometry::check_family<D>("embedding");
}
