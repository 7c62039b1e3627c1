import { isAlliumError } from '@allium/core'
import { expect, it } from 'vitest'
import { toStoreError } from '../src/database/errors.ts'

it.each([
  ['57014', 'store.unavailable', 'statement_timeout'],
  ['55P03', 'store.unavailable', 'lock_timeout'],
  ['42501', 'store.readonly', 'Grant it the rights'],
  ['28000', 'store.unavailable', 'name and password'],
  ['28P01', 'store.unavailable', 'name and password'],
  ['3D000', 'store.unavailable', 'Create it'],
  ['42P01', 'store.corrupt', 'postgresSql()'],
  ['22021', 'store.key', 'store a NUL'],
  ['53100', 'store.full', 'no space left'],
])('tells %s as %s, and what to do', (code, known, advice) => {
  const error = toStoreError(Object.assign(new Error('as Postgres says it'), { code }))
  expect([isAlliumError(error, known as never), String(error)]).toEqual([true, expect.stringContaining(advice)])
})
