// A long sum by levels: LEVEL terms make a term of the next level.
//
// Rounding errors of a running sum grow with its length, all in one direction where the terms are alike. Of a sum by four
// levels they grow with 4 LEVEL: a column of the tallest texture, 32768 texels, has LEVEL terms at most at each.

const int LEVEL = 16;

struct Cascade {
    vec4 first;
    vec4 second;
    vec4 third;
    vec4 last;
};

Cascade empty() {
    return Cascade(vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
}

bool ends(int trip, int terms) {
    return (trip & (terms - 1)) == terms - 1;
}

void add(inout Cascade sum, vec4 term, int trip) {  // trips count from 0
    sum.first += term;
    if (!ends(trip, LEVEL)) return;
    sum.second += sum.first;
    sum.first = vec4(0.0);
    if (!ends(trip, LEVEL * LEVEL)) return;
    sum.third += sum.second;
    sum.second = vec4(0.0);
    if (!ends(trip, LEVEL * LEVEL * LEVEL)) return;
    sum.last += sum.third;
    sum.third = vec4(0.0);
}

vec4 total(Cascade sum) {
    return (sum.last + sum.third) + (sum.second + sum.first);
}
