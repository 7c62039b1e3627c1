import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const config = `export default { test: { projects: [{ test: { name: 'long', include: ['*.test.mjs'] } }], reporters: ['json'] } }`
const fails = `it('fails', () => { throw new Error('boom') })`
const failsOnce = (title: string) => `it('${title}', () => {
  if (existsSync('${title}')) return
  writeFileSync('${title}', '')
  throw new Error('boom')
})
`

/** Runs a suite of one file with these tests, and then once more what has failed. */
function suite(tests: string, flaky: object[] = []) {
  mkdirSync('.cache', { recursive: true })
  const cwd = mkdtempSync(resolve('.cache/once-more-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  mkdirSync(join(cwd, '.ci'))
  writeFileSync(join(cwd, '.ci/flaky.json'), JSON.stringify(flaky))
  writeFileSync(join(cwd, 'vitest.config.mjs'), config)
  const imports = `import { existsSync, writeFileSync } from 'node:fs'\nimport { it } from 'vitest'\n`
  writeFileSync(join(cwd, 'a.test.mjs'), `${imports}it('passes', () => {})\n${tests}`)
  const run = (command: string, args: string[]) => spawnSync(command, args, { cwd, encoding: 'utf8' })
  run('npx', ['vitest', 'run', '--outputFile.json=.cache/long.json'])
  const { status, stdout } = run('node', [resolve('.ci/once-more.mjs'), 'long'])
  const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(
    readFileSync(join(cwd, '.cache/long.json'), 'utf8'),
  )
  return { status, stdout, passed, failed }
}

it('tests that fail once are told as flaky, known or not, and their suite passes', () => {
  const known = { file: 'a.test.mjs', title: 'sometimes', cause: 'It depends on a file.' }
  const { stdout, ...result } = suite(failsOnce('sometimes') + failsOnce('once'), [known])
  expect(result).toEqual({ status: 0, passed: 3, failed: 0 })
  expect(stdout).toMatch(/flaky: a\.test\.mjs: sometimes\nError: boom/)
  expect(stdout).toContain('flaky: a.test.mjs: once (unknown: mend it')
})

it('a test that fails twice fails its suite, whose report stays', () => {
  const { stdout, ...result } = suite(failsOnce('once') + fails)
  expect(result).toEqual({ status: 1, passed: 1, failed: 2 })
  expect(stdout).not.toContain('flaky')
})

it('a failure without a failed file is not repeated', () => {
  const { status, stdout } = suite('')
  expect([status, stdout]).toEqual([1, ''])
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
