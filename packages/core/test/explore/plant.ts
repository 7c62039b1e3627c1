import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Plant, plants, quick } from './plants.ts'

/*
 * `npm run plant`: plants each bug of plants.ts in a copy of the packages, and tells who finds it: the explorer, or else
 * core's other tests. `--only onion/,once` takes those that have one of these in file or effect; `--cases` and `--seed` are the explorer's.
 * `--quick` takes ten that are found soon. `--no-tests` asks the explorer alone, `--tests-only` the others. Nothing is ever changed in the working tree.
 */
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean' },
    'no-tests': { type: 'boolean' },
    'tests-only': { type: 'boolean' },
  },
})
/** What is told of a run: nothing, but where nothing is planted. */
type Stdio = 'ignore' | 'inherit'
type Finder = 'explorer' | 'tests' | 'nobody' | 'invalid'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const copy = mkdtempSync(join(tmpdir(), 'allium-plant-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

copyPackages()
if (values['tests-only'] !== true && explorerFinds('inherit'))
  throw new Error('The explorer finds something where nothing is planted.')
if (values['no-tests'] !== true && testsFind('inherit')) throw new Error('A test fails where nothing is planted.')
const chosen = plants.filter(
  ({ file, breaks }) =>
    (values.quick !== true || quick.includes(breaks)) &&
    values.only.split(',').some((part) => `${file}: ${breaks}`.includes(part)),
)
const results: { plant: Plant; finder: Finder }[] = []
for (const [i, plant] of chosen.entries()) {
  const began = performance.now()
  const finder = tried(plant)
  results.push({ plant, finder })
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(`${i + 1}/${chosen.length} ${finder.padEnd(8)} ${seconds.padStart(4)} s  ${plant.file}: ${plant.breaks}`)
}
report()

function copyPackages(): void {
  const imported: Readonly<Record<string, readonly string[]>> = { core: ['test'], testing: ['test/growth.ts'] }
  const settings = ['package.json', 'vitest.config.ts', 'scripts/tsconfig.base.json']
  for (const file of [...settings, 'scripts/vitest']) cpSync(join(root, file), join(copy, file), { recursive: true })
  for (const folder of ['node_modules', 'docs']) symlinkSync(join(root, folder), join(copy, folder))
  for (const name of readdirSync(join(root, 'packages'))) {
    const [from, to] = [join(root, 'packages', name), join(copy, 'packages', name)]
    mkdirSync(to, { recursive: true })
    for (const part of ['package.json', 'src', ...(imported[name] ?? [])])
      cpSync(join(from, part), join(to, part), { recursive: true })
    symlinkSync(join(from, 'node_modules'), join(to, 'node_modules'))
  }
}

function tried({ file, from, to }: Plant): Finder {
  const path = join(copy, 'packages/core/src', file)
  const sound = readFileSync(path, 'utf8')
  if (sound.split(from).length !== 2) return 'invalid'
  writeFileSync(
    path,
    sound.replace(from, () => to),
  )
  try {
    if (!isProgram(path)) return 'invalid'
    if (values['tests-only'] !== true && explorerFinds()) return 'explorer'
    return values['no-tests'] !== true && testsFind() ? 'tests' : 'nobody'
  } finally {
    writeFileSync(path, sound)
  }
}

/** Whether the file has no error of syntax. */
function isProgram(path: string): boolean {
  return !fails(process.execPath, ['--import=tsx', '--conditions=@allium/source', path], {
    seconds: 60,
    stdio: 'ignore',
  })
}

function explorerFinds(stdio: Stdio = 'ignore'): boolean {
  const { cases, seed } = values
  const cli = ['--conditions=@allium/source', '--import=tsx', 'packages/core/test/explore/cli.ts']
  return fails(process.execPath, [...cli, '--cases', cases, '--seed', seed, '--show', '0', '--stop'], {
    seconds: 90,
    stdio,
  })
}

/** Twice, so that none is found by a test that only lacked time. */
function testsFind(stdio: Stdio = 'ignore'): boolean {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
  const run = [vitest, 'run', '--project', 'plant', '--bail', '1', '--testTimeout=30000', '--exclude', '**/explore/**']
  const how = { seconds: 300, stdio }
  return fails(process.execPath, run, how) && fails(process.execPath, run, how)
}

/** Whether a program fails, or does not come to its end in so many seconds. */
function fails(
  program: string,
  args: readonly string[],
  { seconds, stdio }: { seconds: number; stdio: Stdio },
): boolean {
  const how = { cwd: copy, timeout: seconds * 1000, killSignal: 'SIGKILL', stdio } as const
  return spawnSync(program, args, how).status !== 0
}

function report(): void {
  const by = (finder: Finder) => results.filter((result) => result.finder === finder)
  for (const finder of ['nobody', 'invalid'] as const)
    for (const { plant } of by(finder)) console.log(`${finder}: ${plant.file}: ${plant.breaks}\n  ${plant.from.trim()}`)
  const counts = (['explorer', 'tests', 'nobody', 'invalid'] as const).map((who) => `${who} ${by(who).length}`)
  console.log(`Of ${results.length} planted: ${counts.join(', ')}`)
  process.exitCode = by('nobody').length + by('invalid').length === 0 ? 0 : 1
}
