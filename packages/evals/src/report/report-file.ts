import { AlliumError } from '@allium/core'
import { checkReport } from './check-report.ts'
import { nodeFiles } from './node-files.ts'
import type { EvalReport } from './report.ts'

/**
 * Writes a report to a file, as a baseline for later evaluations. Commit the file. It contains the texts of the answers. Another process
 * sees the old file or the new one.
 */
export async function writeReport(path: string, report: EvalReport): Promise<void> {
  const { rename, writeFile } = nodeFiles('writeReport()')
  const draft = `${path}.${crypto.randomUUID()}.tmp`
  await writeFile(draft, `${JSON.stringify(report, undefined, 1)}\n`)
  await rename(draft, path)
}

/**
 * Reads a report that `writeReport()` has written.
 *
 * @throws AlliumError `options.invalid` for a file that is no report; the error of the file system
 */
export async function readReport(path: string): Promise<EvalReport> {
  const text = await nodeFiles('readReport()').readFile(path, 'utf8')
  let report: unknown
  try {
    report = JSON.parse(text)
  } catch (cause) {
    throw new AlliumError('options.invalid', `The file ${path} is not JSON. Write it with writeReport().`, { cause })
  }
  checkReport(report, `The file ${path}`)
  return report
}
