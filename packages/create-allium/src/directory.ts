import { readdirSync, statSync } from 'node:fs'

/** Returns why a project cannot be created at a path; undefined if it can. */
export function emptyDirectoryError(path: string): string | undefined {
  const entry = statSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return undefined
  if (!entry.isDirectory()) return `${path} is a file. Choose another directory.`
  // A new repository, or a folder that macOS has shown.
  const files = readdirSync(path).filter((name) => name !== '.git' && name !== '.DS_Store')
  return files.length === 0 ? undefined : `${path} is not empty: it contains ${files[0]}. Choose another directory.`
}
