/** Cases whose right behaviour the product does not have yet. Whoever mends one takes it out: then it must stay right. */
export const NOT_RIGHT_YET: ReadonlySet<string> = new Set([
  '31-gc-frees-zero-all-in-use',
  '46-gc-storm',
  '47-image-bigger-than-disk',
  '51-sandbox-busy',
  '68-emptydir-not-ranked',
  '71-evicted-flood',
  '73-fs-limit-on-writable-layer',
  '74-deleted-open-files',
  '75-message-tells-why',
  '79-data-root-moved',
  '82-computed-available-negative',
  '83-available-above-capacity',
  '91-rotated-logs-count',
  '93-orphan-log-dirs',
]);
