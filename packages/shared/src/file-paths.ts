import { AlliumError } from '@allium/core'

export interface PathRules {
  readonly root: string
  /** The only extensions allowed: `pdf`. */
  readonly extensions?: readonly string[] | undefined
  readonly maxBytes: number
}

/** The path that may be opened, absolute and with links resolved; or the problem with it, for the model. */
export type PathCheck = { readonly path: string } | { readonly problem: string }

/**
 * Checks that a path leads to a file or folder below the root.
 * @throws the file system's error, also when the root does not exist
 */
export async function checkPath(input: unknown, { root, extensions, maxBytes }: PathRules): Promise<PathCheck> {
  if (typeof input !== 'string' || !isPortablePath(input)) return { problem: 'is no plain path below the folder' }
  const { fs, path } = loadNode()
  const { basename, dirname, isAbsolute, join, relative, sep } = path
  const realRoot = await fs.realpath(root)
  const target = await resolve(join(realRoot, input))
  if (target === undefined) return { problem: 'is a link that leads nowhere' }
  const { realPath, exists } = target
  const relativePath = relative(realRoot, realPath)
  if (relativePath === '..' || relativePath.startsWith(`..${sep}`) || isAbsolute(relativePath))
    return { problem: 'leads out of the folder' }
  const stats = exists ? await fs.stat(realPath) : undefined
  if (stats?.isDirectory() === true) return { path: realPath }
  if (stats !== undefined && !stats.isFile()) return { problem: 'is no file' }
  if (extensions !== undefined && !(hasExtension(input, extensions) && hasExtension(realPath, extensions)))
    return { problem: 'has an extension that is not allowed' }
  if (stats !== undefined && stats.size > maxBytes) return { problem: `is larger than ${maxBytes} bytes` }
  return { path: realPath }

  /**
   * A path that does not exist yet is resolved through its folder. Returns undefined for a dangling link, because its target is unknown.
   */
  async function resolve(absolutePath: string): Promise<{ realPath: string; exists: boolean } | undefined> {
    try {
      return { realPath: await fs.realpath(absolutePath), exists: true }
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT') throw error
    }
    const linkStats = await fs.lstat(absolutePath).catch(() => undefined)
    const folder = linkStats === undefined ? await resolve(dirname(absolutePath)) : undefined
    return folder && { realPath: join(folder.realPath, basename(absolutePath)), exists: false }
  }
}

/** Whether a name has one of the extensions. The last one counts: `report.pdf.exe` is an `.exe`. */
export function hasExtension(name: string, extensions: readonly string[]): boolean {
  const fileExtension = /[^./\\]\.(?<last>[^./\\]+)$/.exec(name)?.groups?.last?.toLowerCase()
  return (
    fileExtension !== undefined &&
    extensions.some((extension) => extension.replace(/^\./, '').toLowerCase() === fileExtension)
  )
}

/** Loaded at run time, so that the package bundles for runtimes without files. @throws AlliumError `layer.config` */
function loadNode() {
  const { getBuiltinModule: builtin } = globalThis.process ?? {}
  const fs = builtin?.('node:fs/promises')
  const path = builtin?.('node:path')
  if (fs === undefined || path === undefined)
    throw new AlliumError('layer.config', 'Paths can only be checked on Node.js. Run the agent there.')
  return { fs, path }
}

/**
 * Whether a path is relative and means the same on every system: no `..`, drive, stream, home, device or percent-encoding, and no
 * character that normalization would turn into one of these.
 */
function isPortablePath(path: string): boolean {
  return path.length <= 4_096 && [path, path.normalize('NFKC')].every(isPortableText)
}

function isPortableText(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a NUL ends a path in C
  if (path.trim() === '' || /[\x00-\x1f\x7f\\:]|^[/~]|%[0-9a-f]{2}/i.test(path)) return false
  return path.split('/').every((segment) => segment === '.' || (!/[. ]$/.test(segment) && !deviceName.test(segment)))
}

const deviceName = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
