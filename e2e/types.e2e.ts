import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { copyOf, remove } from './app-copy.ts'

const here = createRequire(import.meta.url)
/** Files of other packages that do not hold, whoever imports them. */
const notOurs = ['node_modules/@restatedev/restate-sdk-core/dist/serde_api.d.ts']
let app: string

beforeAll(() => {
  app = copyOf(inject('app'), { '@opentelemetry/api': 'observe', pino: 'observe', '@types/react': 'react' })
})
afterAll(() => remove(app))

it.each([
  ['NodeNext', { module: 'nodenext', moduleResolution: 'nodenext' }],
  ['Bundler', { module: 'esnext', moduleResolution: 'bundler' }],
])('the types of all packages hold without skipLibCheck, under %s', { timeout: 120_000 }, async (name, modules) => {
  const entries = entryPoints()
  const uses = entries.map((entry, at) => `import * as e${at} from '${entry}'\nexport type T${at} = typeof e${at}\n`)
  writeFileSync(join(app, `types-${name}.ts`), uses.join(''))
  const typeRoots = [dirname(dirname(here.resolve('@types/node/package.json')))]
  const lib = ['es2023', 'dom', 'dom.iterable']
  const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true }
  const compilerOptions = { ...modules, ...strict, target: 'es2023', lib, types: ['node'], typeRoots }
  writeFileSync(join(app, `types-${name}.json`), JSON.stringify({ compilerOptions, files: [`types-${name}.ts`] }))
  const errors = await errorsOf(`types-${name}.json`)
  expect(errors.filter((error) => !notOurs.some((file) => error.startsWith(file)))).toEqual([])
  expect(entries.length).toBeGreaterThan(30)
})

/** What a program may import from each package. */
function entryPoints(): string[] {
  const modules = join(app, 'node_modules')
  const names = ['allium', ...readdirSync(join(modules, '@allium')).map((name) => `@allium/${name}`)]
  return names.flatMap((name) => {
    const { exports } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))
    return Object.keys(exports).flatMap((path) => (path.endsWith('.json') ? [] : join(name, path)))
  })
}

function errorsOf(project: string): Promise<string[]> {
  const compiler = join(dirname(here.resolve('typescript/package.json')), 'bin/tsc')
  return new Promise((done) =>
    execFile(process.execPath, [compiler, '-p', project], { cwd: app }, (_, stdout) =>
      done(stdout.split('\n').filter((line) => line.includes('error TS'))),
    ),
  )
}
