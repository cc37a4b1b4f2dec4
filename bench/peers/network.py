"""The network as every peer with OpenVINO compiles it: bytes of BGR pixels in, so that nothing is left to numpy."""

import openvino as ov
from openvino.preprocess import ColorFormat, PrePostProcessor
from pixels import SIDE, STRIDE


def compile_network(core, model, open_sides, settings):
    """Colour order and scale are part of it; its sides are open up to those of the square, or fixed to them."""
    network = core.read_model(model)
    side = ov.Dimension(STRIDE, SIDE) if open_sides else ov.Dimension(SIDE)
    network.reshape(ov.PartialShape([ov.Dimension(1), ov.Dimension(3), side, side]))
    steps = PrePostProcessor(network)
    tensor = steps.input().tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    tensor.set_color_format(ColorFormat.BGR)
    steps.input().model().set_layout(ov.Layout("NCHW"))
    bytes_to_input = steps.input().preprocess().convert_element_type(ov.Type.f32)
    bytes_to_input.convert_color(ColorFormat.RGB).scale(255.0)
    return core.compile_model(steps.build(), "CPU", settings)
