import { expect } from 'vitest'
import type { ConformanceCase } from '../../src/index.ts'

/** Runs the case of this name, which must find what is wrong, by its own check and not by an accident. */
export async function expectToFail(cases: readonly ConformanceCase[], name: string): Promise<void> {
  const found = cases.find((one) => one.name === name)
  expect(found, `a case "${name}"`).toBeDefined()
  const error = await found?.run().catch((error: unknown) => error)
  expect(error, name).toMatchObject({ name: 'Nonconformance' })
}
