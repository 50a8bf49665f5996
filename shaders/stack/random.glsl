// Random numbers of variance 1 for a place: the right-hand sides of probes, the same for every matrix.
//
// The upper half of a hash of the place, spread over -sqrt(3) to sqrt(3): multiplications and shifts of 32-bit integers
// make every bit depend on all.

float random_at(int i, int j) {
    uint h = uint(i) * 2654435761u + uint(j) * 2246822519u + 374761393u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h = (h ^ (h >> 13)) * 3266489917u;
    return (float(h >> 16) + 0.5 - 32768.0) * 5.285e-5;
}
