import { AlliumError } from '@allium/core'

/** Returns the file functions of Node. Loaded at the call, so that the rest of this package runs where there are none. */
export function nodeFiles(what: string): typeof import('node:fs/promises') {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs/promises')
  if (fs === undefined) throw new AlliumError('options.invalid', `${what} needs the file system of Node, Deno or Bun.`)
  return fs
}
