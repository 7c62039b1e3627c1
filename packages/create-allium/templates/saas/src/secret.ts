import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Returns SECRET. On a developer's machine, it is created once and stored in a file. */
export function openSecret({ SECRET, PUBLIC_URL }: NodeJS.ProcessEnv, file: string): string {
  if (SECRET && SECRET.length < 32)
    throw new Error('SECRET has fewer than 32 characters. Create one with: openssl rand -hex 32')
  if (SECRET) return SECRET
  if (PUBLIC_URL) throw new Error('SECRET is not set. Create one with: openssl rand -hex 32')
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 })
  }
  return readFileSync(file, 'utf8')
}
