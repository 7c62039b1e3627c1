import { toJson } from '@allium/core'
import { type EvalCase, nameCases } from '../cases/case.ts'
import { nodeFiles } from '../report/node-files.ts'

/**
 * Writes cases to a JSON Lines file for `readCases()`, and creates its folder. Another process sees the old file or the new one.
 *
 * @throws AlliumError `options.invalid` for a case that cannot be read again; the error of the file system
 */
export async function writeCases(path: string, cases: readonly EvalCase[]): Promise<void> {
  nameCases(cases)
  const { mkdir, rename, writeFile } = nodeFiles('writeCases()')
  await mkdir(process.getBuiltinModule('node:path').dirname(path), { recursive: true })
  const draft = `${path}.${crypto.randomUUID()}.tmp`
  await writeFile(draft, cases.map((one) => `${toJson(one)}\n`).join(''))
  await rename(draft, path)
}
