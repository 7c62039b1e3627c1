/** A bug to plant: texts of a file, each with what stands in its place. */
export interface Plant {
  readonly breaks: string
  readonly edits: readonly (readonly [file: string, from: string, to: string])[]
}

const flow = 'guard/src/flow/flow.ts'
const book = 'guard/src/flow/label-book.ts'
const results = 'guard/src/flow/label-result.ts'
const approvals = 'guard/src/flow/sink-approval.ts'
const scan = 'guard/src/flow/label-scanner.ts'
const addresses = 'guard/src/flow/addresses.ts'
const answers = 'guard/src/flow/json-answer.ts'
const lines = 'guard/src/flow/line-cleaner.ts'
const markup = 'guard/src/flow/markup.ts'
const unlinked = 'guard/src/flow/link-filter.ts'

export const plants: readonly Plant[] = [
  {
    breaks: 'labels are not persisted',
    edits: [
      [flow, 'default: null, reducer', 'default: null, persist: false, reducer'],
      [book, 'isUnlabelled && !this.#trustUnlabelled', 'isUnlabelled && false'],
    ],
  },
  {
    breaks: 'labels last for a turn',
    edits: [
      [flow, 'default: null, reducer', "default: null, scope: 'turn', reducer"],
      [book, 'isUnlabelled && !this.#trustUnlabelled', 'isUnlabelled && false'],
    ],
  },
  { breaks: 'sub-agents do not inherit it', edits: [[flow, 'inherit: true', 'inherit: false']] },
  {
    breaks: 'a call counts with what its siblings have brought',
    edits: [
      [
        flow,
        'book.turnOf(ctx).ofCall(ctx.callId) ?? book.add(ctx, scanner.labelsOf(ctx.messages, ctx.plan))',
        'book.add(ctx, scanner.labelsOf(ctx.messages, ctx.plan))',
      ],
    ],
  },
  {
    breaks: 'a call that no model call of this turn made counts with nothing',
    edits: [
      [
        flow,
        'book.turnOf(ctx).ofCall(ctx.callId) ?? book.add(ctx, scanner.labelsOf(ctx.messages, ctx.plan))',
        'book.turnOf(ctx).ofCall(ctx.callId) ?? {}',
      ],
    ],
  },
  {
    breaks: 'errors of tools are not labelled',
    edits: [
      [
        results,
        'const { name, flow: declared = unknownFlow } = ctx.tool',
        "if (result.status === 'error') return result\n  const { name, flow: declared = unknownFlow } = ctx.tool",
      ],
      [scan, 'if (missing === true', 'if (isError === true || missing === true'],
    ],
  },
  {
    breaks: 'what the provider brings into an answer does not count for its calls',
    edits: [[flow, 'book.add(ctx, labelsOfMessage(response.message, plan), known)', 'known']],
  },
  {
    breaks: 'results that a layer gave are not labelled',
    edits: [[flow, 'const found = scanner.labelsOf(ctx.request.messages, plan)', 'const found = {}']],
  },
  {
    breaks: 'files are the principal’s',
    edits: [[scan, "return type === 'file' || type === 'image'", 'return false && type']],
  },
  {
    breaks: 'given answers are the principal’s',
    edits: [
      [
        book,
        "if (role === 'assistant' || role === 'tool') this.add(ctx, { untrusted: { kind: 'input' } })",
        "if (role === 'tool') this.add(ctx, { untrusted: { kind: 'input' } })",
      ],
    ],
  },
  {
    breaks: 'a history without labels is trusted',
    edits: [[book, 'isUnlabelled && !this.#trustUnlabelled', 'isUnlabelled && false']],
  },
  {
    breaks: 'a history that was put in the place of another is not seen',
    edits: [
      [
        book,
        'this.#seen.has(labels) && this.#isReplaced(history)',
        'false && this.#seen.has(labels) && this.#isReplaced(history)',
      ],
    ],
  },
  {
    breaks: 'what a result says of itself is not heard',
    edits: [
      [results, ': declared, result.flow)', ': declared, {})'],
      [scan, 'flow ?? plan.flowOf(name)', 'plan.flowOf(name)'],
    ],
  },
  {
    breaks: 'a cached result of a sub-agent counts as one that ran',
    edits: [[results, "isHandoff && result.status === 'skipped' ? toolFlow : declared", 'declared']],
  },
  {
    breaks: 'a changed listing is not heard of',
    edits: [[scan, "return { untrusted: { kind: 'listing', tool: name } }", 'return {}']],
  },
  {
    breaks: 'an approval that another layer asked for counts',
    edits: [[approvals, 'approvalRequestOf(ctx)?.by === policy.layer ? ctx.approval : undefined', 'ctx.approval']],
  },
  {
    breaks: 'the first source is lost to the last',
    edits: [
      [
        'guard/src/flow/labels.ts',
        'return { ...added, ...first }',
        'return { ...(added.untrusted && { untrusted: added.untrusted }), ...(first.private && { private: first.private }) }',
      ],
    ],
  },
  {
    breaks: 'MCP tools do not send',
    edits: [['tools/src/mcp/toolbox.ts', 'untrusted: true, sends: true', 'untrusted: true, sends: false']],
  },
  {
    breaks: 'tools.http does not send',
    edits: [['tools/src/http.ts', '{ untrusted: true, sends: true }', '{ untrusted: true }']],
  },
  { breaks: 'writes pass', edits: [['guard/src/flow/sinks.ts', 'writes: writes === true', 'writes: false && writes']] },
  {
    breaks: 'thoughts keep their links',
    edits: [
      [unlinked, "chunk.type === 'text-delta' || chunk.type === 'reasoning-delta'", "chunk.type === 'text-delta'"],
    ],
  },
  {
    breaks: 'what the answer’s tool gets keeps its links',
    edits: [[answers, "chunk.type === 'tool-input-start' && chunk.name === this.#tool", 'false && this.#tool']],
  },
  {
    breaks: 'text leaves before its line is whole',
    edits: [
      [
        lines,
        'const [pieces, rest] = this.#splitLongLine(this.#buffer.slice(from))',
        "const [pieces, rest] = [this.#buffer.slice(from), '']",
      ],
    ],
  },
  {
    breaks: 'where a Markdown link leads to is not looked at',
    edits: [[markup, "next === '(' &&", "next === '(' && false &&"]],
  },
  {
    breaks: 'what a definition leads to is not looked at',
    edits: [[markup, "next === ':' &&", "next === ':' && false &&"]],
  },
  {
    breaks: 'addresses written with entities pass',
    edits: [['guard/src/flow/entities.ts', 'harmlessEntities.has(name) ?', 'harmlessEntities.has(name) || true ?']],
  },
  {
    breaks: 'addresses that stand by themselves pass',
    edits: [[addresses, 'candidateSign.test(token) ? cleanWord(token, isAllowedHost) : token', 'token']],
  },
  {
    breaks: 'tags keep what they carry',
    edits: [[markup, '&lt;`', '<`']],
  },
]
