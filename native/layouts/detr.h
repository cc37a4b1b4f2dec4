// RT-DETR, RT-DETRv2 and D-FINE: rewritten into a network whose output is rows of corners, score
// and class (kFinal).
#ifndef LATTICE_LAYOUTS_DETR_H_
#define LATTICE_LAYOUTS_DETR_H_

#include "native/model/model_info.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// Turns an export of these into one of the layout kFinal, whose pictures are to be stretched to the
// input. False for every other model, which stays as it is. In float32, two forms are known by the
// structure of the graph:
//
//   raw       one picture; outputs: logits [batch, queries, classes] of a linear layer, and boxes
//             [batch, queries, 4], centre and size as shares of the picture. As the predictor of
//             RT-DETR does, the network then keeps the best `queries` scores (sigmoids) of all
//             queries and classes: a query may give several boxes, each of another class.
//   deployed  a picture and its size [batch, 2]; outputs: labels, boxes as corners in pixels of
//             the given size, and scores, chosen in the same way. The size becomes that of the
//             input.
//
// The number of classes must be that of `info.names`. The picture must go straight into a
// convolution of 3 x 3 cells with a stride of 2, which is how their backbones (ResNet-D, HGNetV2)
// begin, trained on pixels from 0 to 1: others of this kind (DETR, Deformable DETR, YOLOS, RF-DETR)
// were trained on pixels less a mean, which no graph tells.
bool TurnDetrIntoFinal(ModelInfo info, OnnxModel* model);

}  // namespace lattice

#endif  // LATTICE_LAYOUTS_DETR_H_
