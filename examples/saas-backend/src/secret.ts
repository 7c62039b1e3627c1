import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import type { Env } from './store.ts'

/** Returns `SAAS_SECRET`, or a secret of this machine that its processes share. */
export function openSecret({ SAAS_SECRET, SAAS_DATA = '.cache/saas-backend' }: Env): string {
  if (SAAS_SECRET !== undefined) return SAAS_SECRET
  const file = `${SAAS_DATA}/secret`
  mkdirSync(SAAS_DATA, { recursive: true })
  // Another process may start at the same time, and must not read a file that is still empty.
  const own = `${file}-${process.pid}`
  writeFileSync(own, randomBytes(32).toString('base64url'), { mode: 0o600 })
  try {
    linkSync(own, file)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(own)
  }
  return readFileSync(file, 'utf8')
}
