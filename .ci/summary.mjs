// Prints the slowest files of each suite, what has failed, and the sum. A failed step that no test counts (lint, types, a build, a file that
// does not load) counts as one. Usage: node .ci/summary.mjs NUMBER_OF_FAILED_STEPS
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const sum = { passed: 0, failed: 0, skipped: 0 }
for (const name of ['unit', 'long', 'killed', 'e2e']) {
  const report = read(`.cache/${name}.json`)
  if (report === undefined) continue
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

function printFailures(name, files) {
  for (const file of files)
    for (const test of file.assertionResults)
      if (test.status === 'failed')
        console.log(`✗ ${name} ${pathOf(file)}: ${test.fullName}\n${test.failureMessages.join('\n').slice(0, 1500)}`)
  for (const error of read(`.cache/${name}.errors.json`) ?? [])
    console.log(`✗ ${name}: an error that no test caught\n${error.slice(0, 1500)}`)
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
