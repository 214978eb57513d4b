/** Cases whose right behaviour the product does not have yet. Whoever mends one takes it out: then it must stay right. */
export const NOT_RIGHT_YET: ReadonlySet<string> = new Set([
  '31-gc-frees-zero-all-in-use',
  '46-gc-storm',
  '47-image-bigger-than-disk',
  '51-sandbox-busy',
  '71-evicted-flood',
  '83-available-above-capacity',
  '91-rotated-logs-count',
  '93-orphan-log-dirs',
]);
