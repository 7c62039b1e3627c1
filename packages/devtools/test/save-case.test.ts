import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseCases } from '@allium/evals'
import { expect, test } from 'vitest'
import { caseFile } from '../src/host/evals/save-case.ts'
import { projectFolder } from './eval-report.ts'

const file = 'evals/saved.cases.jsonl'
const hello = { id: 'turn-1', input: 'Hello', expected: 'Hello!', tags: ['first'], principal: { userId: 'jane' } }

test('appends cases, one line each, that allium eval can read', async () => {
  const { cwd, write } = projectFolder(tmpdir())
  write(file, '{ "input": "by hand" }')
  const cases = caseFile(cwd)
  const ids = ['turn-1', 'turn-2', 'turn-3']
  const saved = await Promise.all(ids.map((id) => cases.save({ ...hello, id, input: `${id}\nsecond line` })))
  expect(saved.map(({ id, isDuplicate }) => [id, isDuplicate])).toEqual(ids.map((id) => [id, false]))
  expect(parseCases(readFileSync(join(cwd, file), 'utf8')).map(({ id }) => id)).toEqual(['line-1', ...ids])
})

test('says that a case is there already, and writes nothing', async () => {
  const { cwd } = projectFolder(tmpdir())
  const cases = caseFile(cwd)
  await cases.save(hello)
  const before = readFileSync(join(cwd, file), 'utf8')
  const again = await cases.save({ ...hello, id: 'turn-9', expected: 'Hi' })
  expect(again).toEqual({ id: 'turn-1', file, isDuplicate: true })
  await expect(cases.save({ ...hello, input: 'Other' })).rejects.toMatchObject({ status: 409, message: /"turn-1"/ })
  expect(readFileSync(join(cwd, file), 'utf8')).toBe(before)
})

test.each([
  ['another field', { ...hello, path: '../x' }, /path/],
  ['no input', { id: 'a' }, /no input/],
  ['no id', { input: 'Hello' }, /no id/],
  ['a list', [hello], /not an object/],
  ['no JSON', undefined, /not JSON/],
])('rejects a case with %s', async (_, given, message) => {
  const { cwd } = projectFolder(tmpdir())
  await expect(caseFile(cwd).save(given)).rejects.toMatchObject({ status: 422, message })
  expect(existsSync(join(cwd, file))).toBe(false)
})

test('writes nothing through a symbolic link that leads out of the project', async () => {
  const [outside, { cwd }] = [projectFolder(tmpdir()), projectFolder(tmpdir())]
  symlinkSync(outside.cwd, join(cwd, 'evals'))
  await expect(caseFile(cwd).save(hello)).rejects.toMatchObject({ status: 409 })
  const other = projectFolder(tmpdir())
  mkdirSync(join(other.cwd, 'evals'))
  symlinkSync(join(outside.cwd, 'target'), join(other.cwd, file))
  await expect(caseFile(other.cwd).save(hello)).rejects.toMatchObject({ status: 409 })
  expect(existsSync(join(outside.cwd, 'saved.cases.jsonl')) || existsSync(join(outside.cwd, 'target'))).toBe(false)
})
