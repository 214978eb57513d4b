import { createCipheriv, createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ImageSpec, LayerSpec } from '../contract/runtime-under-test.js';
import { type TarEntry, tar } from './tar.js';

/** Where Debian's busybox-static puts its one binary. */
export const BUSYBOX = '/bin/busybox';

const APPLETS = 'sh sleep dd cat ls echo touch mkdir rm seq true false df yes head kill sync stat find mv'.split(' ');
const DIRECTORIES = ['bin', 'etc', 'tmp', 'proc', 'sys', 'dev', 'data'];

/**
 * OCI image layout of one image as a tar archive, as `ctr images import` takes it. Equal arguments give equal bytes, and
 * equal layers one blob, so images share them on disk. Layers are stored uncompressed: the content blob and the unpacked
 * snapshot both stay, so an image takes about twice its size on the runtime's disk.
 */
export function ociArchive(image: ImageSpec): Buffer {
  const layers = image.layers.map(layerArchive);
  const config = json({
    created: '2024-01-01T00:00:00Z',
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: {
      Cmd: image.command ?? ['/bin/sleep', '100000000'],
      Env: ['PATH=/bin'],
      Labels: { name: image.name, ...image.labels },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(digest) },
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: layers.map((layer) => descriptor('application/vnd.oci.image.layer.v1.tar', layer)),
  });
  const index = json({
    schemaVersion: 2,
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest),
        annotations: { 'io.containerd.image.name': image.name },
      },
    ],
  });
  const blobs = new Map([...layers, config, manifest].map((blob) => [digest(blob), blob]));
  return tar([
    ...[...blobs].map(([id, data]): TarEntry => file(`blobs/sha256/${id.slice('sha256:'.length)}`, data)),
    file('index.json', index),
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
  ]);
}

/** Uncompressed tar archive of one layer. */
export function layerArchive(layer: LayerSpec): Buffer {
  switch (layer.kind) {
    case 'busybox':
      return tar([
        ...DIRECTORIES.map((name): TarEntry => ({ kind: 'directory', name })),
        { kind: 'file', name: 'bin/busybox', data: readFileSync(BUSYBOX), mode: 0o755 },
        ...APPLETS.map((name): TarEntry => ({ kind: 'symlink', name: `bin/${name}`, target: 'busybox' })),
        file('etc/passwd', Buffer.from('root:x:0:0:root:/:/bin/sh\n')),
      ]);
    case 'random':
      return tar([
        file(`random-${layer.kib}-${layer.seed}`, seededBytes(`${layer.kib}/${layer.seed}`, layer.kib * 1024)),
      ]);
    case 'files': {
      const directory = `many-${layer.seed}`;
      const names = Array.from({ length: layer.count }, (_, index) => `${directory}/${index}`);
      return tar([{ kind: 'directory', name: directory }, ...names.map((name) => file(name, Buffer.from('x')))]);
    }
  }
}

/** Incompressible bytes that depend on the seed alone: the key stream of AES in counter mode. */
function seededBytes(seed: string, length: number): Buffer {
  const key = createHash('sha256').update(seed).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

function file(name: string, data: Uint8Array): TarEntry {
  return { kind: 'file', name, data };
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function digest(data: Uint8Array): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

function descriptor(mediaType: string, data: Uint8Array) {
  return { mediaType, digest: digest(data), size: data.length };
}
