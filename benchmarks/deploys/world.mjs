import { fsyncSync, openSync, writeSync } from 'node:fs'

// Shared by the programs that are compared: the kill, the deploy, and the file that counts the effects.
export const { DIR: dir, BUILD: build = 'same' } = process.env
const file = `${dir}/effects.log`

/** Counts a payment, a receipt or a model call, and kills this process if `KILL` names it. */
export function effect(name) {
  const log = openSync(file, 'a')
  writeSync(log, `${name}\n`)
  fsyncSync(log)
  if (process.env.KILL === name) process.kill(process.pid, 'SIGKILL')
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
