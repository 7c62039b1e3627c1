import { readFileSync } from 'node:fs'
import type { LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

/** A loader of Node that gives modules their instrumented source, and tests a `vitest` that runs them in this process. */
const { sources } = JSON.parse(readFileSync(process.env.MUTANTS as string, 'utf8')) as {
  sources: Record<string, string>
}
const vitest = new URL('vitest.ts', import.meta.url).href

export const resolve: ResolveHook = (specifier, context, nextResolve) =>
  specifier === 'vitest' && context.parentURL?.split('?')[0] !== vitest
    ? { url: vitest, shortCircuit: true }
    : nextResolve(specifier, context)

const later = /import\((['"])(?:\.\.\/)+later\.ts\1\)/g

export const load: LoadHook = async (url, context, nextLoad) => {
  const source = url.startsWith('file:') ? sourceOf(fileURLToPath(url.split('?')[0] as string)) : undefined
  if (source === undefined) return nextLoad(url, context)
  // With a loader, each import() takes real time, also of a module that is loaded. Virtual time does not wait for it.
  const { code } = await transform(source, { loader: 'ts', target: 'es2022', sourcefile: url })
  return { format: 'module', source: code.replaceAll(later, 'globalThis.later'), shortCircuit: true }
}

/** The source of a file that is instrumented, or that imports what core loads later. */
function sourceOf(path: string): string | undefined {
  if (path in sources || !path.includes('/packages/core/src/')) return sources[path]
  const source = readFileSync(path, 'utf8')
  return source.search(later) < 0 ? undefined : source
}
