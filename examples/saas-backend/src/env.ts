import { readFileSync } from 'node:fs'
import type { Env } from './store.ts'

const secrets = ['DATABASE_URL', 'REDIS_URL', 'SAAS_SECRET', 'OPENAI_API_KEY'] as const

/**
 * Returns the variables, with secrets read from files: `DATABASE_URL_FILE` sets `DATABASE_URL`. Docker and systemd pass secrets as
 * files, which other processes and crash reports do not show.
 */
export function readEnv(variables: Env): Env {
  const fromFiles = secrets.flatMap((name) => {
    const file = variables[`${name}_FILE`]
    return file === undefined ? [] : [[name, readFileSync(file, 'utf8').trim()]]
  })
  return { ...variables, ...Object.fromEntries(fromFiles) }
}
