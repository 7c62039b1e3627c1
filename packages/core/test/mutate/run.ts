import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { instrument, type Mutant } from './instrument.ts'
import { type Result, reportOf, survived } from './report.ts'
import { Tester, workerArgs } from './tester.ts'

/*
 * `npm run mutate`: changes the sources of core one expression at a time, and tells which changes neither the explorer nor core's tests
 * find. `--only onion/,stream/` takes the files whose path begins with one of these; `--concurrency` is the number of processes. `--again`
 * tries only those that survived the last time. `--quick` does without the last pass, which tries survivors with slow tests and more cases.
 * `--every 10` takes one change in ten, which gives the score within two points in a tenth of the time.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'onion/,stream/,agent/scope/,session/scope/,turn/,model/scope/,tool/scope/' },
    concurrency: { type: 'string', default: '2' },
    again: { type: 'boolean' },
    quick: { type: 'boolean' },
    every: { type: 'string', default: '1' },
  },
})

/** The score below which the command fails, in percent. */
const wanted = 90

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const sources = 'packages/core/src/'
const folder = join(root, '.cache/mutation')
const files = {
  mutants: join(folder, 'mutants.json'),
  coverage: join(folder, 'coverage.json'),
  results: join(folder, 'results.json'),
}
mkdirSync(folder, { recursive: true })

const instrumented = await instrument(root, filesOf(values.only.split(',')))
const mutants = instrumented.mutants.filter((_, n) => n % Number(values.every) === 0)
writeFileSync(files.mutants, JSON.stringify(instrumented))
console.log(`${mutants.length} of ${instrumented.mutants.length} mutants`)
const env = { ...process.env, MUTANTS: files.mutants }
execFileSync(process.execPath, [...workerArgs, '--baseline', files.coverage], { env, stdio: 'inherit' })
const earlier = values.again === true ? (JSON.parse(readFileSync(files.results, 'utf8')) as Result[]) : undefined
let results = earlier ?? (await tryAll(mutants))
save()
if (earlier !== undefined) await retry()
if (values.quick !== true) await retry({ thorough: true })
const { text, score } = reportOf(root, results)
console.log(text)
process.exitCode = score >= wanted ? 0 : 1

function filesOf(prefixes: readonly string[]): string[] {
  return readdirSync(join(root, sources), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && prefixes.some((prefix) => file.startsWith(prefix)))
    .map((file) => sources + file)
    .sort()
}

/** Tries the survivors again, and keeps what is known of the others. */
async function retry(options?: { thorough: boolean }): Promise<void> {
  const again = await tryAll(
    results.filter(survived).map(({ mutant }) => mutant),
    options,
  )
  results = [...results.filter((result) => !survived(result)), ...again]
  save()
}

function save(): void {
  writeFileSync(files.results, JSON.stringify(results, undefined, 1))
}

async function tryAll(mutants: readonly Mutant[], options?: { thorough: boolean }): Promise<Result[]> {
  const results: Result[] = []
  const waiting = mutants.values()
  await Promise.all(
    Array.from({ length: Number(values.concurrency) }, async () => {
      const tester = new Tester(files)
      for (const mutant of waiting) {
        results.push({ mutant, ...(await tester.try(mutant, options)) })
        if (results.length % 50 === 0) console.log(progressOf(results, mutants.length))
      }
      tester.stop()
    }),
  )
  return results
}

function progressOf(results: readonly Result[], all: number): string {
  return `${results.length} of ${all} tried, ${results.filter(survived).length} survived`
}
