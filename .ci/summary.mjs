// Prints the files that have failed, the slowest files of each suite, what has failed, and the sum. A failed step that no test counts (lint, types, a build, a file that
// does not load) counts as one. Usage: node .ci/summary.mjs NUMBER_OF_FAILED_STEPS
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Failed tests of a file whose messages are printed. Often one cause fails all tests of a file, and the log is cut. */
const mostMessages = 5

const sum = { passed: 0, failed: 0, skipped: 0 }
const reports = ['unit', 'long', 'killed', 'e2e'].map((name) => [name, read(`.cache/${name}.json`)])
const written = reports.filter(([, report]) => report !== undefined)
for (const [name, { testResults }] of written) printFailedFiles(name, testResults)
for (const [name, report] of written) {
  sum.passed += report.numPassedTests
  sum.failed += report.numFailedTests
  sum.skipped += report.numPendingTests + report.numTodoTests
  printSlowest(name, report.testResults)
  printFailures(name, report.testResults)
}
sum.failed ||= Number(process.argv[2])
console.log(`${sum.passed} passed, ${sum.failed} failed${sum.skipped ? `, ${sum.skipped} skipped` : ''}`)

function printSlowest(name, files) {
  const slowest = files
    .map((file) => ({ path: pathOf(file), seconds: Math.round((file.endTime - file.startTime) / 1000) }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, 3)
  console.log(`${name}, slowest: ${slowest.map(({ path, seconds }) => `${path} ${seconds} s`).join(', ')}`)
}

function printFailedFiles(name, files) {
  for (const file of files) {
    const { length } = failedIn(file)
    if (length > 0) console.log(`✗ ${name} ${pathOf(file)}: ${length} failed`)
    else if (file.status === 'failed') console.log(`✗ ${name} ${pathOf(file)}: the file itself failed`)
  }
}

function printFailures(name, files) {
  for (const file of files)
    for (const [index, test] of failedIn(file).entries()) {
      const messages = index < mostMessages ? test.failureMessages : []
      console.log([`✗ ${name} ${pathOf(file)}: ${test.fullName}`, ...messages.map(startOf)].join('\n'))
    }
  for (const error of read(`.cache/${name}.errors.json`) ?? [])
    console.log(`✗ ${name}: an error that no test caught\n${startOf(error)}`)
}

function failedIn({ assertionResults }) {
  return assertionResults.filter(({ status }) => status === 'failed')
}

function startOf(message) {
  return message.slice(0, 1500)
}

function pathOf({ name }) {
  return relative(process.cwd(), name)
}

/** Undefined if the suite wrote no report. */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
