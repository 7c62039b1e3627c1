import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { messageOf } from '@allium/core'

/** Creates the error for a file that must not be used. */
export type PathFailure = (code: 'config.not_found' | 'config.outside', problem: string) => Error

/** Resolves a path relative to the root, with `~` as the home directory. */
export function absolute(path: string, root: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1))
  return resolve(root, path)
}

/** Returns the real path of a file, with links followed. It must be inside the root unless other files are allowed. */
export async function resolveFile(
  path: string,
  root: string,
  allowOutside: boolean,
  fail: PathFailure,
): Promise<string> {
  let file: string
  try {
    file = await realpath(absolute(path, root))
  } catch (error) {
    throw fail('config.not_found', `names the file ${path}, which cannot be read: ${messageOf(error)}`)
  }
  if (!allowOutside && !isWithinRoot(file, await realpath(root)))
    throw fail(
      'config.outside',
      `names the file ${path}, which is ${file}, outside the folder of the config (${root}). Move it there, or allow it with { allowOutside: true }.`,
    )
  return file
}

function isWithinRoot(file: string, root: string): boolean {
  const way = relative(root, file)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
