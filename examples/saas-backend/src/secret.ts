import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Env } from './store.ts'

/** Returns `SAAS_SECRET`, or a secret of this machine that its processes share. */
export function openSecret({ SAAS_SECRET, SAAS_DATA = '.cache/saas-backend' }: Env): string {
  if (SAAS_SECRET !== undefined) return SAAS_SECRET
  const file = `${SAAS_DATA}/secret`
  mkdirSync(SAAS_DATA, { recursive: true })
  try {
    writeFileSync(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8')
}
