import { createHash } from 'node:crypto';
import type { Image, ImageFilter, ImageSpec } from '../proto/generated/cri.js';
import { Image as ImageMessage } from '../proto/generated/cri.js';
import type { ContentStore, StoredLayer } from './content-store.js';
import { asCriError, CriError } from './cri-error.js';
import type { Garbage } from './garbage.js';
import type { EmbeddedImage } from './options.js';
import type { ImageRecord } from './records.js';
import { findImage, type RuntimeState } from './state.js';
import { pause } from './waiting.js';

/** The images: what ImageService does, and importing. */
export class Images {
  readonly #state: RuntimeState;
  readonly #content: ContentStore;
  readonly #garbage: Garbage;
  readonly #pullMs: number;
  /** Everything ever imported, by name: the registry that PullImage pulls from. */
  readonly #registry = new Map<string, EmbeddedImage>();
  readonly #messages = new WeakMap<ImageRecord, Image>();

  constructor(state: RuntimeState, content: ContentStore, garbage: Garbage, pullMs: number) {
    this.#state = state;
    this.#content = content;
    this.#garbage = garbage;
    this.#pullMs = pullMs;
  }

  /** Makes an image known; resolves to its id. @throws CriError when the disk has no room for it. */
  async import(image: EmbeddedImage): Promise<string> {
    this.#registry.set(image.name, image);
    return this.#garbage.exclusively(() => this.#import(image));
  }

  async #import(image: EmbeddedImage): Promise<string> {
    const layers: StoredLayer[] = [];
    try {
      for (const layer of image.layers) layers.push(await this.#content.add(layer));
    } catch (error) {
      // The layers that did come in belong to nobody; the next collection takes them.
      void this.#garbage.collect();
      throw asCriError(`failed to pull and unpack image "${image.name}"`, error);
    }
    const command = [...(image.command ?? [])];
    const id = `sha256:${createHash('sha256')
      // Without labels an image is the one that it always was.
      .update(JSON.stringify([layers, command, ...(image.labels === undefined ? [] : [image.labels])]))
      .digest('hex')}`;
    for (const other of this.#state.images.values()) {
      if (other.id === id || !other.tags.includes(image.name)) continue;
      other.tags = other.tags.filter((tag) => tag !== image.name);
      this.#messages.delete(other);
    }
    const known = this.#state.images.get(id);
    if (known === undefined) {
      const size = layers.reduce((sum, layer) => sum + layer.size, 0);
      const { labels = {} } = image;
      this.#state.images.set(id, { id, layers, size, command, labels, tags: [image.name] });
    } else if (!known.tags.includes(image.name)) {
      known.tags = [...known.tags, image.name];
      this.#messages.delete(known);
    }
    return id;
  }

  /** Every image that the filter lets through, in a new order each time. */
  list(filter: ImageFilter | undefined): Image[] {
    const name = filter?.image?.image ?? '';
    const found =
      name === '' ? this.#state.images.values() : [findImage(this.#state, name)].filter((image) => image !== undefined);
    return this.#state.random.shuffled(found).map((image) => this.#message(image));
  }

  /** Undefined when there is none: for CRI that is no error. */
  status(spec: ImageSpec | undefined): Image | undefined {
    const image = findImage(this.#state, spec?.image ?? '');
    return image === undefined ? undefined : this.#message(image);
  }

  /** What a verbose status tells beside: the image's own configuration, in the form of containerd and CRI-O. */
  info(spec: ImageSpec | undefined): Record<string, string> {
    const image = findImage(this.#state, spec?.image ?? '');
    if (image === undefined) return {};
    const imageSpec = {
      created: '2024-01-01T00:00:00Z',
      config: { Cmd: image.command, Labels: image.labels ?? {} },
      rootfs: { type: 'layers', diff_ids: image.layers.map((each) => each.digest) },
    };
    return { info: JSON.stringify({ imageSpec }) };
  }

  /** Brings back an image that was imported before; there is no other registry. */
  async pull(spec: ImageSpec | undefined): Promise<string> {
    const name = spec?.image ?? '';
    const image = this.#registry.get(name);
    if (image === undefined) {
      throw new CriError(
        'NOT_FOUND',
        `failed to pull and unpack image "${name}": failed to resolve reference: not found`,
      );
    }
    await pause(this.#pullMs);
    return this.import(image);
  }

  /** Removes an image with all its names. Its space is free at return, except what containers still use. */
  async remove(spec: ImageSpec | undefined): Promise<void> {
    const image = findImage(this.#state, spec?.image ?? '');
    if (image === undefined) return;
    this.#state.images.delete(image.id);
    await this.#garbage.collect();
  }

  #message(image: ImageRecord): Image {
    const known = this.#messages.get(image);
    if (known !== undefined) return known;
    const message = ImageMessage.fromPartial({
      id: image.id,
      repoTags: [...image.tags],
      size: BigInt(image.size),
      pinned: this.#state.traits.pins && image.tags.includes(this.#state.sandboxImage),
    });
    this.#messages.set(image, message);
    return message;
  }
}
