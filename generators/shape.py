"""The sizes of a model that its cost follows from, as plain numbers for the files of a run."""

from generators.registry import find_weights

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "int8": 1}
SIZES = ("d_model", "encoder_layers", "decoder_layers", "encoder_ffn_dim", "decoder_ffn_dim", "vocab_size")


def shape_of(weights: str, dtype: str) -> dict[str, int]:
    """The shape of a model (a shipped name, a folder, a hub name) with its weights in `dtype`.

    Activations of an int8 model are float32.
    """
    from generators.models.files import read_config

    values = read_config(find_weights(weights))
    sizes = {name: int(values[name]) for name in SIZES}
    return sizes | {"weight_bytes": BYTES[dtype], "value_bytes": BYTES["float32" if dtype == "int8" else dtype]}
