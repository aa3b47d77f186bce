/* HGPO in plain C, for comparison: one open-addressing table per level for the whole batch, keyed by the row's
 * cluster of the level below and the observation one step further back; two passes for mean and deviation.
 * Reads int32 rows, K; int32 group, trajectory, observation; float64 returns; prints ns of CPU time per step of
 * the best round and the sum of |A|. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static int32_t rows, K;
static int32_t *group, *trajectory, *observation, *depth, *cluster, *value;
static uint64_t *key;
static double *returns, *weighted, *weight, *sum, *squares;
static int32_t *count;
static uint64_t mask;

static int32_t lookup(uint64_t k, int32_t *next) {
  uint64_t at = (k * 0x9E3779B97F4A7C15ull >> 32) & mask;
  while (value[at] >= 0 && key[at] != k) at = (at + 1) & mask;
  if (value[at] < 0) {
    key[at] = k;
    value[at] = *next;
    count[*next] = 0;
    sum[*next] = 0;
    squares[*next] = 0;
    ++*next;
  }
  return value[at];
}

static void level(int32_t k) {
  int32_t clusters = 0;
  memset(value, 0xff, (mask + 1) * sizeof *value);
  for (int32_t i = 0; i < rows; i++) {
    if (depth[i] < k) { cluster[i] = -1; continue; }
    uint64_t above = (uint64_t)(uint32_t)(k == 0 ? group[i] : cluster[i]);
    cluster[i] = lookup(above << 32 | (uint32_t)observation[i - k], &clusters);
    count[cluster[i]]++;
    sum[cluster[i]] += returns[i];
  }
  for (int32_t i = 0; i < rows; i++) {
    if (cluster[i] < 0) continue;
    double off = returns[i] - sum[cluster[i]] / count[cluster[i]];
    squares[cluster[i]] += off * off;
  }
  for (int32_t i = 0; i < rows; i++) {
    int32_t c = cluster[i];
    if (c < 0 || count[c] < 2) continue;
    double a = (returns[i] - sum[c] / count[c]) / (sqrt(squares[c] / count[c]) + 1e-6);
    if (fabs(a) < 1e-9) continue;
    weighted[i] += (k + 2) * a;
    weight[i] += k + 2;
  }
}

int main(int argc, char **argv) {
  FILE *f = fopen(argv[1], "rb");
  int rounds = argc > 2 ? atoi(argv[2]) : 5;
  if (!f || fread(&rows, 4, 1, f) != 1 || fread(&K, 4, 1, f) != 1) return 1;
  size_t n = rows;
  mask = 1;
  while (mask < 2 * n) mask *= 2;
  mask--;
  group = malloc(4 * n); trajectory = malloc(4 * n); observation = malloc(4 * n);
  depth = malloc(4 * n); cluster = malloc(4 * n); count = malloc(4 * n + 4);
  returns = malloc(8 * n); weighted = malloc(8 * n); weight = malloc(8 * n);
  sum = malloc(8 * n + 8); squares = malloc(8 * n + 8);
  key = malloc(8 * (mask + 1)); value = malloc(4 * (mask + 1));
  if (fread(group, 4, n, f) != n || fread(trajectory, 4, n, f) != n || fread(observation, 4, n, f) != n ||
      fread(returns, 8, n, f) != n)
    return 1;
  double best = 1e300, total = 0;
  for (int r = 0; r < rounds; r++) {
    double start = now();
    memset(weighted, 0, 8 * n);
    memset(weight, 0, 8 * n);
    for (size_t i = 0; i < n; i++) depth[i] = i && trajectory[i] == trajectory[i - 1] ? depth[i - 1] + 1 : 0;
    for (int32_t k = 0; k <= K; k++) level(k);
    total = 0;
    for (size_t i = 0; i < n; i++) total += fabs(weighted[i] / (weight[i] + 1e-6));
    double took = (now() - start) / n;
    if (took < best) best = took;
  }
  printf("%.3f %.9g\n", best, total);
  return 0;
}
