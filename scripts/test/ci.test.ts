import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const config = `import { unhandledErrors } from '../../scripts/vitest/unhandled-errors.ts'
export default { test: { projects: [{ test: { name: 'long', include: ['*.test.mjs'] } }], reporters: ['json', unhandledErrors()] } }`
const fails = `it('fails', () => { throw new Error('boom') })`
const failsOnce = (title: string) => `it('${title}', () => {
  if (existsSync('${title}')) return
  writeFileSync('${title}', '')
  throw new Error('boom')
})
`

function folderOf() {
  mkdirSync('.cache', { recursive: true })
  const cwd = mkdtempSync(resolve('.cache/once-more-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  mkdirSync(join(cwd, '.ci'))
  return cwd
}

/** Runs a suite with a file for each of these texts, which have a test that passes, too, and then once more what has failed. */
function suite(files: string[], flaky: object[] = []) {
  const cwd = folderOf()
  writeFileSync(join(cwd, '.ci/flaky.json'), JSON.stringify(flaky))
  writeFileSync(join(cwd, 'vitest.config.mjs'), config)
  const imports = `import { existsSync, writeFileSync } from 'node:fs'\nimport { it } from 'vitest'\n`
  for (const [index, tests] of files.entries())
    writeFileSync(join(cwd, `${'abcd'[index]}.test.mjs`), `${imports}it('passes', () => {})\n${tests}`)
  const run = (command: string, args: string[]) => spawnSync(command, args, { cwd, encoding: 'utf8' })
  run('npx', ['vitest', 'run', '--outputFile.json=.cache/long.json'])
  const { status, stdout } = run('node', [resolve('.ci/once-more.mjs'), 'long'])
  const report = JSON.parse(readFileSync(join(cwd, '.cache/long.json'), 'utf8'))
  const { numPassedTests: passed, numFailedTests: failed } = report
  const failedFiles = report.testResults.filter((file: { status: string }) => file.status === 'failed').length
  return { status, stdout, passed, failed, failedFiles }
}

it('tests that fail once are told as flaky, known or not, and their suite passes', () => {
  const known = { file: 'a.test.mjs', title: 'sometimes', cause: 'It depends on a file.' }
  const { stdout, ...result } = suite([failsOnce('sometimes'), ...['once', 'b', 'c'].map(failsOnce)], [known])
  expect(result).toEqual({ status: 0, passed: 8, failed: 0, failedFiles: 0 })
  expect(stdout).toMatch(/flaky: a\.test\.mjs: sometimes\nError: boom/)
  expect(stdout).toContain('flaky: b.test.mjs: once (unknown: mend it')
})

it('a test that fails twice fails its suite, whose report stays', () => {
  const { stdout, ...result } = suite([failsOnce('once') + fails])
  expect(result).toEqual({ status: 1, passed: 1, failed: 2, failedFiles: 1 })
  expect(stdout).not.toContain('flaky')
})

it('an error that no test caught does not keep a failed file from its second run, if it comes from that file', () => {
  const looseOnce = `it('loose', async () => {
  if (existsSync('loose')) return
  writeFileSync('loose', '')
  Promise.reject(new Error('nobody waits for this'))
  await new Promise(setImmediate)
  throw new Error('boom')
})`
  expect(suite([looseOnce])).toMatchObject({ status: 0, passed: 2, failed: 0 })
})

it('a failure without a failed file is not repeated', () => {
  const { status, stdout } = suite([''])
  expect([status, stdout]).toEqual([1, ''])
})

it('a failure of more than 20 files is not repeated', () => {
  const cwd = folderOf()
  mkdirSync(join(cwd, '.cache'))
  writeFileSync(join(cwd, '.cache/long.json'), JSON.stringify({ testResults: Array(21).fill({ status: 'failed' }) }))
  const { status, stdout } = spawnSync('node', [resolve('.ci/once-more.mjs'), 'long'], { cwd, encoding: 'utf8' })
  expect([status, stdout]).toEqual([1, ''])
})

it('a summary begins with the files that failed, and has the messages of five tests of each', () => {
  const cwd = folderOf()
  const assertionResults = Array.from({ length: 7 }, (_, n) => {
    return { status: 'failed', fullName: `test ${n}`, failureMessages: [`expected ${n}`, 'The server said: no'] }
  })
  const a = { name: join(cwd, 'a.test.ts'), status: 'failed', startTime: 0, endTime: 2000, assertionResults }
  const b = { ...a, name: join(cwd, 'b.test.ts'), assertionResults: [] }
  const sums = { numPassedTests: 3, numFailedTests: 7, numPendingTests: 0, numTodoTests: 0 }
  mkdirSync(join(cwd, '.cache'))
  writeFileSync(join(cwd, '.cache/e2e.json'), JSON.stringify({ testResults: [a, b], ...sums }))
  const { stdout } = spawnSync('node', [resolve('.ci/summary.mjs'), '1'], { cwd, encoding: 'utf8' })
  expect(stdout).toMatch(/^✗ e2e a\.test\.ts: 7 failed\n✗ e2e b\.test\.ts: the file itself failed\ne2e, slowest/)
  expect(stdout).toContain('✗ e2e a.test.ts: test 4\nexpected 4\nThe server said: no\n')
  expect(stdout).toMatch(/: test 5\n✗ e2e a\.test\.ts: test 6\n3 passed, 7 failed\n$/)
})

it('at most three tests are known to be flaky, each with its cause', () => {
  const known = JSON.parse(readFileSync('.ci/flaky.json', 'utf8')) as { file: string; title: string; cause: string }[]
  expect(known.length).toBeLessThanOrEqual(3)
  for (const { file, title, cause } of known)
    expect([file, existsSync(file), readFileSync(file, 'utf8').includes(title), cause.length > 20]).toEqual([
      file,
      true,
      true,
      true,
    ])
})
