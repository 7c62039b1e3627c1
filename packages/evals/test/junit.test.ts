import { expect, it } from 'vitest'
import { memoryPages, validateXML } from 'xmllint-wasm'
import { junitReport } from '../src/report.ts'
import { junitSchema } from './junit-schema.ts'
import { hostile, reportOf, worse } from './report-kit.ts'

async function problems(xml: string): Promise<readonly string[]> {
  const { errors } = await validateXML({
    xml: [{ fileName: 'report.xml', contents: xml }],
    schema: [{ fileName: 'junit.xsd', contents: junitSchema }],
    initialMemoryPages: 256,
    maxMemoryPages: memoryPages.GiB,
  })
  return errors.map(({ message }) => message)
}

it('has a testcase for each gate and each case, and fails those that count against a failed gate', async () => {
  const { report, baseline } = await worse()
  const xml = junitReport(report, { name: 'support', baseline })
  expect(xml).toContain('<testsuite name="support: gates" tests="1" failures="1" errors="0" skipped="0"')
  expect(xml).toContain('<testsuite name="support: cases" tests="60" failures="24" errors="0" skipped="0"')
  expect(xml).toMatch(
    /<testcase name="order 1" classname="support\.cases" time="\d+\.\d{3}"><failure message="right \(drop &#60; 10 points\): 0, was 1" type="gate">/,
  )
  expect(xml).toContain('&#34;limit&#34; denied refund (new)')
  expect(await problems(xml)).toEqual([])
})

it('has an error for each case without a score of an invalid gate', async () => {
  const xml = junitReport(await reportOf({ invalid: 30, gates: { right: { min: 0.5 } } }))
  expect(xml).toContain('<testsuite name="desk: cases" tests="60" failures="0" errors="30" skipped="0"')
  expect(xml).toContain('<error message="right: no score: 503 busy" type="invalid">')
  expect(await problems(xml)).toEqual([])
})

it.each([
  [false, 'failures="1" errors="0" skipped="0"'],
  [true, 'failures="0" errors="0" skipped="1"'],
])('an undecided gate is a failure, unless that is allowed: %s', async (allowUndecided, counts) => {
  const xml = junitReport(await reportOf({ cases: 4, gates: { right: { min: 0.9 } } }), { allowUndecided })
  expect(xml).toContain(`<testsuite name="desk: gates" tests="1" ${counts}`)
  expect(await problems(xml)).toEqual([])
})

it('is valid XML with any text', async () => {
  const { report, baseline } = await worse(hostile)
  const cases = report.cases.map((one, at) => (at === 0 ? { ...one, id: hostile } : one))
  const xml = junitReport([{ name: hostile, report: { ...report, cases }, baseline }])
  expect(await problems(xml)).toEqual([])
  expect(xml).toContain('&#60;script&#62;')
})

it('the schema of these tests refuses another element, and a testcase without a name', async () => {
  expect(await problems('<testsuites><suite/></testsuites>')).not.toEqual([])
  expect(await problems('<testsuites><testsuite name="a" tests="1"><testcase/></testsuite></testsuites>')).not.toEqual(
    [],
  )
})
