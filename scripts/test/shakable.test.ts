import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { markConstants, shakable } from '../build/shakable.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('a bundle', () => {
  const packages =
    'combinators core evals evals/report guard hooks memory model observe providers shared/detect shared/json-schema shared/order shared/prices shared/resilience store tools'

  it.each(packages.split(' '))('keeps nothing of %s that the program does not use', async (name) => {
    const [folder, file = 'index'] = name.split('/')
    expect(await bundle(`import './src/${file}.ts'`, `${root}/packages/${folder}`)).toBe('')
  })
})

describe('the mark of a constant', () => {
  const marked = (text: string) => markConstants(text, 'a.ts')

  it('surrounds what is computed, and leaves its type', () => {
    expect(marked('export const a: RegExp = new RegExp(b) as RegExp')).toBe(
      'export const a: RegExp = /* @__PURE__ */ (() => ( new RegExp(b) as RegExp))()',
    )
  })

  it.each([
    ['literals', `const a = { b: ['c', 1, -1, null, undefined, true], d: /e/u, f: { g: \`h\` } } as const`],
    [
      'functions and classes',
      'const a = () => b(), c = { d() { return b() }, e: function () {} }\nclass F { g = b() }',
    ],
    ['what a function computes', 'function a() { const b = c()\n  return b }'],
    ['a call for its effect', 'a()'],
    ['a value that is awaited', 'const a = await b()'],
    ['several names at once', 'const { a } = b()'],
  ])('is not on %s', (_, text) => {
    expect(marked(text)).toBe(text)
  })

  it.each(['b()', 'new B()', '[...b]', '{ ...b }', '{ [b]: 1 }', '{ c: b() }', `\`\${b}\``, 'b.c', 'b`c`', '2 ** b'])(
    'is on %s',
    (value) => {
      expect(marked(`const a = ${value}`)).toContain('@__PURE__')
    },
  )
})

async function bundle(contents: string, resolveDir: string): Promise<string> {
  const options = {
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    minify: true,
    write: false,
  } as const
  const program = { stdin: { contents, resolveDir }, outdir: 'out', plugins: [everyFile, shakable] }
  const { outputFiles } = await build({ ...options, ...program })
  // The chunks that load later are files of their own, and the program imports those that it shares with them.
  const text = outputFiles.find(({ path }) => path.endsWith('/stdin.js'))?.text ?? 'nothing was built'
  return text.replaceAll(/import"\.\/chunk-\w+\.js";|\s/g, '')
}

/** Every file of a package is in the bundle, as if all were one file of `dist`. Other packages are not. */
const everyFile: Plugin = {
  name: 'every file',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) => ({ path: resolve(resolveDir, path), sideEffects: true }))
    onResolve({ filter: /^[^.]/ }, ({ path }) => ({ path, external: true, sideEffects: false }))
  },
}
