// lambda - d to high relative accuracy, for a root that is known as a pole and an offset from it.
//
// Written as the distance of two poles, which is exact where they are close, plus the offset. A compiler that takes
// (origin + offset) - d in its place costs the vectors of close roots their orthogonality.

float gap(float origin, float offset, float d) {
    return (origin - d) + offset;
}
