import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

// What a program of `sides/` shares with the others: the kill, the deploy, and the file that counts what has happened.
export const { DIR: dir, KILL: kill = '', BUILD: build = 'same' } = process.env
const file = `${dir}/effects.log`

/** Counts a payment, a receipt or a model call, and kills this process if it is the one to die in. */
export function effect(name) {
  const log = openSync(file, 'a')
  writeSync(log, `${name}\n`)
  fsyncSync(log)
  if (kill === name) process.kill(process.pid, 'SIGKILL')
}

export function effects() {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

/** The name of the tool that pays: one of the deploys renames it. */
export const paying = build === 'rename' ? 'charge_card' : 'charge'

export const instructions = build === 'instructions' ? 'Pay, and be brief.' : 'Pay.'

/** The script of the model: pay, send a receipt, answer. `results` are the tool results that it has read. */
export function scripted(results) {
  effect(`model ${results + 1}`)
  return [paying, 'receipt'][results]
}

export const report = (value) => console.log(JSON.stringify(value))
