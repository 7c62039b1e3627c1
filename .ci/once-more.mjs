// Runs the test files that failed in a suite once more, alone. If they pass now, so does the suite, and their tests are printed as flaky.
// Usage: node .ci/once-more.mjs NAME, after the suite has written .cache/NAME.json
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'

const most = 20
const [name] = process.argv.slice(2)
const report = `.cache/${name}.json`
const first = read(report)
const failed = first?.testResults.filter(({ status }) => status === 'failed') ?? []
/** Errors that no test caught. Each begins with the path of its file; that of a file that failed may come from its failure. */
const loose = (read(`.cache/${name}.errors.json`) ?? []).filter(
  (error) => !failed.some((file) => error.startsWith(`${file.name}\n`)),
)

process.exitCode = passesNow() ? 0 : 1

function passesNow() {
  // Without a report of a failed file, something else failed: lint, types, a build, or an error that no test caught.
  if (failed.length === 0 || failed.length > most || loose.length > 0) return false
  const files = failed.map((file) => relative(process.cwd(), file.name))
  console.log(`=== ${name}: once more, alone: ${files.join(' ')}`)
  if (!runs(['vitest', 'run', `--project=${name}*`, `--outputFile.json=${report}`, ...files])) return restored()
  // The first failure may have ended the checks beside it.
  if (name === 'unit' && !['test:lint', 'test:types'].every((check) => runs(['-y', 'pnpm@10.34.8', 'run', check])))
    return restored()
  for (const file of failed) for (const test of failuresOf(file)) tell(file.name, test)
  const testResults = first.testResults.map((file) => ({
    ...file,
    status: 'passed',
    assertionResults: file.assertionResults.map(passed),
  }))
  return restored({ testResults, numPassedTests: first.numPassedTests + first.numFailedTests, numFailedTests: 0 })
}

/** The failed tests of a file. A file may also fail before or after its tests. */
function failuresOf({ assertionResults, message }) {
  const tests = assertionResults.filter(({ status }) => status === 'failed')
  return tests.length > 0 ? tests : [{ fullName: 'the file itself', failureMessages: [message] }]
}

function passed(test) {
  return test.status === 'failed' ? { ...test, status: 'passed' } : test
}

function tell(path, test) {
  const file = relative(process.cwd(), path)
  const isKnown = read('.ci/flaky.json')?.some((known) => known.file === file && known.title === test.fullName)
  const advice = isKnown ? '' : ' (unknown: mend it, or add it to .ci/flaky.json with its cause)'
  console.log(`flaky: ${file}: ${test.fullName}${advice}\n${messagesOf(test)}`)
}

/** The start of each message. */
function messagesOf({ failureMessages }) {
  return failureMessages.map((message) => message.slice(0, 1500)).join('\n')
}

/** The second run has written its own report over that of the whole suite. Returns whether the suite passes. */
function restored(passing) {
  writeFileSync(report, JSON.stringify({ ...first, ...passing }))
  return passing !== undefined
}

function runs(args) {
  return spawnSync('npx', args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
}

function read(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
