/** Cases whose right behaviour the product does not have yet. Whoever mends one takes it out: then it must stay right. */
export const NOT_RIGHT_YET: ReadonlySet<string> = new Set();
