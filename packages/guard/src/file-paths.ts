import { AlliumError } from '@allium/core'
import { hasExtension } from './file-parts.ts'

export interface PathRules {
  readonly root: string
  readonly extensions: readonly string[] | undefined
  readonly maxBytes: number
}

/** The path that may be opened, absolute and with its links resolved; or what is wrong about it, for the model. */
export type Judged = { readonly path: string } | { readonly problem: string }

/**
 * Whether a path leads to a file or folder below the root.
 * @throws what the file system throws, the root not being there included
 */
export async function judgePath(given: unknown, { root, extensions, maxBytes }: PathRules): Promise<Judged> {
  if (typeof given !== 'string' || !isPlain(given)) return { problem: 'is no plain path below the folder' }
  const { fs, path } = loadNode()
  const { basename, dirname, isAbsolute, join, relative, sep } = path
  const realRoot = await fs.realpath(root)
  const target = await resolve(join(realRoot, given))
  if (target === undefined) return { problem: 'is a link that leads nowhere' }
  const { real, exists } = target
  const within = relative(realRoot, real)
  if (within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within))
    return { problem: 'leads out of the folder' }
  const found = exists ? await fs.stat(real) : undefined
  if (found?.isDirectory() === true) return { path: real }
  if (found !== undefined && !found.isFile()) return { problem: 'is no file' }
  if (extensions !== undefined && !(hasExtension(given, extensions) && hasExtension(real, extensions)))
    return { problem: 'has an extension that is not allowed' }
  if (found !== undefined && found.size > maxBytes) return { problem: `is larger than ${maxBytes} bytes` }
  return { path: real }

  /** A path that is not there yet is where its folder is. Undefined for a link to nothing: what it would make, nobody knows. */
  async function resolve(place: string): Promise<{ real: string; exists: boolean } | undefined> {
    try {
      return { real: await fs.realpath(place), exists: true }
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT') throw error
    }
    const isLink = await fs.lstat(place).catch(() => undefined)
    const folder = isLink === undefined ? await resolve(dirname(place)) : undefined
    return folder && { real: join(folder.real, basename(place)), exists: false }
  }
}

/** Not imported, so that the package bundles for where there are no files. @throws AlliumError `layer.config` */
function loadNode() {
  const { getBuiltinModule: builtin } = globalThis.process ?? {}
  const fs = builtin?.('node:fs/promises')
  const path = builtin?.('node:path')
  if (fs === undefined || path === undefined)
    throw new AlliumError('layer.config', 'Paths are checked in Node.js, whose modules cannot be loaded here.')
  return { fs, path }
}

/**
 * Relative, and the same on each system: no `..`, drive, stream, home, device or percent-encoding, nothing that a
 * normalisation would make one of these.
 */
function isPlain(path: string): boolean {
  return path.length <= 4_096 && [path, path.normalize('NFKC')].every(isPlainText)
}

function isPlainText(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a NUL ends a path in C
  if (path.trim() === '' || /[\x00-\x1f\x7f\\:]|^[/~]|%[0-9a-f]{2}/i.test(path)) return false
  return path.split('/').every((segment) => segment === '.' || (!/[. ]$/.test(segment) && !device.test(segment)))
}

const device = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
