import { AlliumError } from '@allium/core'

/** Loaded at run time, so that the package bundles for runtimes without files. @throws AlliumError `layer.config` */
export function loadNode() {
  const { getBuiltinModule: builtin } = globalThis.process ?? {}
  if (builtin === undefined)
    throw new AlliumError('layer.config', 'Skills are files, which cannot be read here. Run the agent on Node.js.')
  return { fs: builtin('node:fs/promises'), path: builtin('node:path'), url: builtin('node:url') }
}
