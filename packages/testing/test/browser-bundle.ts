import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Options } from 'tsup'
import { onTestFinished } from 'vitest'

/**
 * The package of a test, bundled for a browser: its code, and what that imports before it is used. What the package depends
 * on stays outside, unless `options` say otherwise.
 */
export async function browserBundle(
  test: string,
  options: Options = {},
): Promise<{ code: string; imported: string[] }> {
  const outDir = await mkdtemp(join(tmpdir(), 'allium-bundle-'))
  onTestFinished(() => rm(outDir, { recursive: true }))
  await build({
    entry: [fileURLToPath(new URL('../src/index.ts', test))],
    outDir,
    platform: 'browser',
    format: 'esm',
    skipNodeModulesBundle: true,
    removeNodeProtocol: false,
    config: false,
    silent: true,
    ...options,
  })
  const files = (await readdir(outDir)).filter((name) => name.endsWith('.js'))
  const code = (await Promise.all(files.map((name) => readFile(join(outDir, name), 'utf8')))).join('\n')
  // A list of names may go over lines.
  const imports = code.matchAll(/^(?:import|export)\s[^;"]*from "(?<from>[^"]+)";$|^import "(?<alone>[^"]+)";$/gm)
  return { code, imported: Array.from(imports, ({ groups }) => groups?.from ?? groups?.alone ?? '') }
}
