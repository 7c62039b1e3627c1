/** What is planted: the text `from` stands once in its file, `to` takes its place. */
export interface Plant {
  readonly file: string
  readonly from: string
  readonly to: string
  /** What is wrong then. */
  readonly breaks: string
}

type Line = readonly [from: string, to: string, breaks: string]

/**
 * A hundred small bugs of the centre, by file below packages/core/src: a check left out, two steps swapped, a wait not
 * waited for, the wrong attempt, a cleanup forgotten, one too many. `npm run plant` tells which of them are found.
 */
const byFile: Readonly<Record<string, readonly Line[]>> = {
  'onion/next.ts': [
    [
      'return $call.ring.reentrant && ($state !== State.done || $hook?.reenters === true)',
      'return $call.ring.reentrant',
      'any layer may re-enter after a success',
    ],
    [
      'return fail(attempt, call.end === undefined ? error : call.end.error)',
      'return succeed(attempt, value)',
      'a floating next() is no error',
    ],
    [
      'inner.$state === State.done ? error : firstError(inner.$outcome, error)',
      'inner.$state === State.done ? error : error',
      'an error of a finally hides the first',
    ],
    [
      "    call.late(attempt, 'next')\n    return rejected(abandonedError(attempt))",
      "    call.late(attempt, 'next')",
      'a layer that was left goes inside',
    ],
    ['if (call.end !== undefined) return rejected(call.end.error)', '', 'next() opens after the end of the run'],
    ['number = ++call.attempts', 'number = call.attempts', 'attempts share a number'],
    ['if (signal?.aborted === true) return rejected(signal.reason)', '', 'an aborted signal opens an attempt'],
    [
      'if (inner !== undefined && isOpen(inner)) abandon(inner, error)\n  if (attempt.$state === State.abandoned)',
      'if (attempt.$state === State.abandoned)',
      'a layer that throws leaves its inner attempt running',
    ],
    ['    abandon(inner, error)\n', '', 'a floating next() runs on'],
    [
      '  if (call.end !== undefined) return fail(attempt, call.end.error)\n  let result',
      '  let result',
      'a layer that swallows an abort goes on with its result',
    ],
    ['  attempt.$call.returned(attempt, thrown)', '', 'a turn waits for layers that have come back'],
    [
      '  reject(attempt, error)\n  attempt.$call.returned',
      '  attempt.$call.returned',
      'who called a left layer waits for ever',
    ],
    [
      '    if (!cancel.isObserved) cancel.release()',
      '    cancel.release()',
      'who has read a narrowed signal misses the abort',
    ],
  ],
  'onion/outcome.ts': [
    ['      if (!isOpen(core)) return\n', '', 'a core goes on with what came after it was left'],
    ['  attempt.$call.ring.commit?.(caller, attempt)\n', '', 'a caller takes no fields over'],
    [
      '  const draining = stage.fail(error)',
      '  const draining = stage.kill(error)',
      'pipes are not drained after a failure',
    ],
    ['attempt.$exempt = true', '', 'nothing that unwinds at the end of a run counts'],
    ['  attempt.$call.ring.rollback?.(attempt)\n', '', 'a layer that failed goes on holding'],
    [
      '  if (deepest.$hook === undefined) deepest.$call.ring.cancel?.(deepest, error)\n',
      '',
      'an ended run leaves its physical call running',
    ],
  ],
  'onion/abandon.ts': [
    ['  if (isInCore(deepest)) reject(deepest, reason)\n', '', 'the layer around a left core waits for it'],
    ['  if (layers.length > 0) attempt.$call.abandoned(layers)', '', 'a turn ends before what was left has unwound'],
    ['  caller?.$stage?.kill(reason)\n', '', 'pipes of a left attempt still yield'],
    [
      '  if (attempt.$hook === undefined) $call.ring.cancel?.(attempt, reason)\n',
      '',
      'the physical call of a left attempt runs on',
    ],
    [
      '  if (caller !== undefined && caller.$cancel !== $cancel) $cancel.abort(reason)',
      '',
      'the signal of a left attempt does not abort',
    ],
    ['  $call.ring.rollback?.(attempt)\n', '', 'what a left layer held stays held'],
    ['one.$exempt = one.$call.end !== undefined', 'one.$exempt = true', 'left attempts still count'],
    [
      '  for (const one of [...chain].reverse()) {',
      '  for (const one of chain) {',
      'what hangs is given up from the outside in',
    ],
  ],
  'onion/attempt.ts': [
    ['at = at.$caller ?? at.$call.outer', 'at = at.$caller', 'a call outlives the turn attempt that it is in'],
    [
      'return $state === State.draining || $state > State.done',
      'return $state > State.done',
      'layers act while a failed attempt drains',
    ],
    [' || at.$timedOut) return true', ') return true', 'a tool past its timeout still counts'],
    ['$state <= State.draining', '$state < State.draining', 'an attempt that drains is closed'],
  ],
  'onion/cancel.ts': [
    ['    this.#released = false\n    this.#outer.on(this)\n', '', 'a signal read late never aborts'],
  ],
  'model/scope/ring.ts': [
    [
      'i < chunks.length && isOpen(attempt)',
      'i < chunks.length',
      'an own answer is streamed after its attempt was left',
    ],
    [
      "if (turn.options.onRetryAfterOutput !== 'fail' || !turn.answer.isShown) return undefined",
      'return undefined',
      'a reset is not refused',
    ],
    [
      'borrowed === 0 ? caller.$fields : copyLooked(caller.$fields, borrowed)',
      'caller.$fields',
      'an inner attempt shares what its caller can change',
    ],
    ['    caller.$own &= looks\n', '', 'a write beside next() reaches the attempt inside'],
    ['    if (sink.used) sink.reset()\n', '', 'a second attempt adds to what the first one streamed'],
    ['    if (caller.$hook?.reenters === true) return\n', '', 'a layer that re-enters takes fields over'],
    ['  if ($sink?.used === true) $sink.reset()\n', '', 'an own answer adds to what was streamed'],
    [
      "  if (reached && $sink?.used === true && !$sink.open) throw mismatch(attempt, 'the response')\n",
      '',
      'an answer is taken back unasked',
    ],
    [
      '    const { $stage: stage } = caller\n    if (stage === undefined) return give',
      '    const { $stage: stage } = caller\n    if (stage?.transforms.hold !== false) return give',
      'what a layer held back in pipes is no part of its answer',
    ],
  ],
  'model/scope/provider-call.ts': [
    ['    this.#count()\n    this.#reading.begin()', '    this.#reading.begin()', 'physical calls are not counted'],
    [
      '(isOpen(this.#core) ? this.take(chunk) : undefined)',
      'this.take(chunk)',
      'chunks come after their attempt was left',
    ],
  ],
  'model/scope/reading.ts': [
    ['    this.#request.abort(reason)\n', '', 'a provider is not told that its call is over'],
    ['    if (iterator?.return === undefined) return', '    return', 'streams are not closed'],
    [
      '      if (backpressure === undefined) this.#next()\n      else watch(backpressure, () => this.#next(), this.#failed)',
      '      this.#next()',
      'a provider is not held back',
    ],
  ],
  'tool/scope/ring.ts': [
    [
      'caller.$own || caller.$borrowed ? { ...fields, args: cloneJson(fields.args) } : fields',
      'fields',
      'inner layers share the arguments of their caller',
    ],
    ['  if (sticky !== undefined) return sticky\n', '', 'an outer layer undoes a deny'],
    ['    if (caller.$hook?.reenters === true) return\n', '', 'a retried tool gets the arguments of the failed try'],
  ],
  'tool/scope/running.ts': [
    ['    core.$timedOut = true\n', '', 'a tool acts after its timeout'],
    ['      outcome.abandoned(core, reason)\n', '', 'a tool that was left is waited for'],
    ['    lifecycle.deadlines.remove(deadline)\n', '', 'timeouts of tools that are done stay'],
  ],
  'tool/scope/execute-tool.ts': [
    ['if (!changed && core.$number === 1)', 'if (!changed)', 'a second try gets what the first made of its arguments'],
  ],
  'turn/turn-lifecycle.ts': [
    ['if (this.isSettled || (this.end', 'if ((this.end', 'an abort changes how a decided run ends'],
    [
      "(this.end !== undefined && (this.end.kind !== 'failed' || kind === 'failed'))",
      'this.end !== undefined',
      'a failure beats a block that comes after it',
    ],
    ['if (isOpen(root)) abandon(root, reason)', '', 'calls of a left loop run on'],
    [
      '    for (const root of [...(this.#openCalls ?? [])]) failInside(root, error)\n',
      '',
      'calls do not fail with the run',
    ],
    ['    this.gracePeriod.begin()\n', '', 'a run waits for ever for what hangs'],
    ['    for (const abandonWait of this.#pending ?? []) abandonWait(reason)\n', '', 'a left loop waits on'],
  ],
  'turn/turn.ts': [
    ['    if (this.hasEnded) return\n    if (this.display', '    if (this.display', 'events follow turn:end'],
    [
      'if (!this.lifecycle.isSettled) this.stopReason ??= reason',
      'this.stopReason ??= reason',
      'a stop changes how a decided run ends',
    ],
    [
      '  settled(): void {\n    this.lifecycle.isSettled = true\n',
      '  settled(): void {\n',
      'how a run ends is never decided',
    ],
  ],
  'turn/attempt-in-turn.ts': [
    [
      'if (!isLate(this)) this.$turn.send(event)',
      'if (true) this.$turn.send(event)',
      'a left layer speaks into the stream',
    ],
    ["    if (this.$homeTurn.hasEnded) return 'dropped'\n", '', 'state is written after turn:end'],
    ["if (this.$isLate('block')) throw abandonedError(this)", '', 'a left layer blocks'],
    ["if (this.$isLate('abort')) throw abandonedError(this)", '', 'a left layer aborts'],
    ["if (!this.$isLate('stop')) ", '', 'a left layer stops the loop'],
    [
      'return this.$isLate(verb) || this.$state !== State.running',
      'return this.$isLate(verb)',
      'a layer that has returned changes fields',
    ],
  ],
  'turn/once.ts': [
    ['      () => (known.made = undefined),\n', '      () => {},\n', 'a once that failed is never tried again'],
    [
      '(known.made as Promise<T>).catch(() => this.run(key, fn, layer))',
      '(known.made as Promise<T>)',
      'a rejection of once goes to all who share it',
    ],
  ],
  'turn/grace-period.ts': [
    [
      '    for (const layer of [...abandonment.layers].reverse()) reject(layer, layer.$outcome)\n',
      '',
      'layers around what hangs wait for ever',
    ],
    [
      'if (this.#abandonments === undefined || this.#outer !== undefined) return undefined',
      'return undefined',
      'a turn ends before what was left has unwound',
    ],
  ],
  'turn/answer.ts': [
    [
      '    if (!this.#transcript.dropUnseen()) return\n',
      '    if (true) return\n',
      'the history has what no reader saw',
    ],
    ['    if (!this.outputSink.drop(attempt.$index)) return\n', '    return\n', 'what a failed layer held is shown'],
    ['    } else if (startsOver) sink.reset()\n', '    }\n', 'an own answer of a turn layer adds to a failed one'],
    [
      '    this.#transcript.replaceThoughts(assembly)\n    this.#output = shown',
      '    this.#output = shown',
      'a cut answer has thoughts that nobody saw',
    ],
    [
      "    if (assembly === undefined || this.#phase === 'followed') return\n",
      '    return\n',
      'a cut run keeps what was still on its way',
    ],
    [
      'this.outputSink.release(attempt.$index)) this.#transcript.shown()',
      'this.outputSink.release(attempt.$index)) {}',
      'a block leaves in the history what it takes back',
    ],
    [
      '    if (this.#isFollowed) this.beginAnswer()\n    else if (this.outputSink.used)',
      '    if (this.outputSink.used)',
      'a block takes back what was said before tools',
    ],
    [
      '    if (this.#isFollowed) {\n      this.#commitShown()\n      this.beginAnswer()\n    } else if (startsOver)',
      '    if (attempt.$inner !== undefined && sink.used)',
      'an own answer takes back what was said before tools',
    ],
  ],
  'turn/transcript.ts': [
    ["    this.#history.closePending('Cancelled.')\n", '', 'a cut run leaves calls without a result'],
  ],
  'turn/output-sink.ts': [
    [
      'if (chunk === anotherAnswer) this.begin()\n      else {',
      'if (chunk !== anotherAnswer) {',
      'held answers become one',
    ],
    [
      'hold === undefined || hold.layers.at(-1) !== index) return false',
      'hold === undefined) return false',
      'a layer that never held ends the hold of another',
    ],
  ],
  'stream/stage.ts': [
    ['    if (!this.#live) return\n    this.#passed', '    this.#passed', 'chunks leave a stage that was killed'],
    [
      '    return this.transforms.hold || this.out.open',
      '    return this.transforms.hold',
      'a hold outside does not keep what is inside',
    ],
    ['    this.#held.length = this.#mark\n', '', 'a retry inside a hold keeps what the first try said'],
    ['    if (this.out.used) this.out.reset()\n', '', 'a reset stops at the first stage'],
  ],
  'stream/pipe-link.ts': [
    ['    this.#close({ error: reason })\n', '', 'a pipe that was killed is not told'],
    ['      if (this.#dead) return\n', '', 'a pipe that was killed still yields'],
  ],
  'turn/tool-step.ts': [
    ['if (step.runs) emitEnd(turn, cancel(step))\n', 'void step\n', 'a tool that began is not told to end'],
    ['    if (this.#closed) return\n    const own', '    const own', 'a tool is told to end twice'],
    [
      'if (!turn.lifecycle.isOver) turn.lifecycle.fail(error)',
      'turn.lifecycle.fail(error)',
      'a call of a left loop fails the run',
    ],
    [
      'while (next < length && !this.#turn.lifecycle.isOver)',
      'while (next < length)',
      'tools begin after the end of the run',
    ],
  ],
  'turn/run-turn.ts': [
    ['  if (unwinding !== undefined) await unwinding\n', '', 'a turn ends before what was left has unwound'],
    ['    answer.dropUnseen()\n', '', 'a cut run keeps what no reader saw'],
  ],
  'turn/turn-ring.ts': [
    [
      '    if (callIndex === 0 && attempt.$caller?.$stage?.used === false) attempt.$caller.$stage.kill(noResponse)\n',
      '',
      'a pipe makes an answer of a turn in which no model was asked',
    ],
    ['    turn.lifecycle.abandonLoop(reason)\n', '', 'a left loop runs on'],
  ],
  'turn/step.ts': [
    [
      '  callEnded(call, response, followed)\n  turn.lifecycle.throwIfOver()\n',
      '  callEnded(call, response, followed)\n',
      'tools begin where the run has ended',
    ],
  ],
  'turn/loop.ts': [
    ['if (turn.stepIndex >= turn.maxSteps)', 'if (turn.stepIndex > turn.maxSteps)', 'a turn has one step too many'],
    ['turn.stopReason === undefined && !turn.isSuspended', '!turn.isSuspended', 'a stop does not end the loop'],
  ],
}

export const plants: readonly Plant[] = Object.entries(byFile).flatMap(([file, lines]) =>
  lines.map(([from, to, breaks]) => ({ file, from, to, breaks })),
)

/** Ten that the explorer finds within 1,000 cases and seconds, by what they break. CI plants them; the rest take half an hour. */
export const quick: readonly string[] = [
  'any layer may re-enter after a success',
  'a floating next() is no error',
  'the layer around a left core waits for it',
  'an answer is taken back unasked',
  'physical calls are not counted',
  'streams are not closed',
  'calls do not fail with the run',
  'a left layer blocks',
  'what a failed layer held is shown',
  'a tool is told to end twice',
]
