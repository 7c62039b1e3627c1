import { fold } from '@allium/shared/detect'

const qualifiers =
  '(?:(?:all|any|every|each|of|the|these|those|your|my|our|and|or|previous|previously|prior|earlier|above|preceding|existing|former|initial|original|foregoing|system|other|given|current) ){0,7}'
const orderNouns =
  '(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|commands?|orders?|constraints?|restrictions?|programming|training|policies|policy|text|context|messages?|input)'
const dropVerbs =
  '(?:ignore|disregard|forget|override|overrule|bypass|neglect|discard|drop|skip|pay no attention to|do not follow|don.?t follow|stop following)'

/** Phrases of attacks that rarely occur in benign texts. Texts are folded, in lower case, with single spaces. */
const attackPatterns: readonly RegExp[] = [
  new RegExp(
    `\\b${dropVerbs} (?=(?:the )?(?:all|any|every|these|those|your|our|previous|prior|earlier|above|preceding|existing|former|initial|original|system)\\b)${qualifiers}${orderNouns}\\b`,
  ),
  /\b(?:ignore|disregard|forget) (?:everything|anything|all|what(?:ever)?|the text|the above)(?: that)?(?: (?:was|were|is|came|comes|said|written|stated|you|have|been|told|i|we|they|learned|know|about)){0,5} (?:above|before|previously|earlier|so far|until now|prior)\b/,
  /\b(?:ignore|disregard|forget) (?:the|all|everything)(?: of)?(?: the)? above\b/,
  /\b(?:reveal|show|print|repeat|output|display|tell|give|leak|dump|write|recite|disclose|expose)(?: (?:me|us|out|verbatim|all|of|the|your|full|entire|exact|hidden|secret|initial|original|complete|back|current)){0,7} (?:system prompt|system message|system instructions|initial prompt|initial instructions|hidden prompt|hidden instructions|original instructions|developer message|prompt above|instructions above|instructions verbatim)\b/,
  /\b(?:what|which) (?:is|are|was|were) (?:your|the) (?:exact |full |original |initial |hidden )?(?:system prompt|initial prompt|hidden instructions|original instructions|initial instructions)\b/,
  /\b(?:do anything now|developer mode (?:enabled|on|output)|jailbreak(?:ed)? mode|enable (?:developer|jailbreak|god|debug) mode|you are (?:now )?(?:dan|stan|aim|devmode|jailbroken)\b)/,
  /\b(?:no longer|not|never) (?:bound|limited|restricted|constrained) by (?:any |the |your |openai.?s |these |its )*(?:rules|guidelines|restrictions|policy|policies|limitations|filters|ethic)/,
  /\bwithout (?:any )?(?:restrictions|filters|censorship|moral|ethical|limitations|safety)[a-z ,]{0,40}(?:answer|respond|reply|comply|tell|generate)|\b(?:answer|respond|reply|comply) [a-z ,]{0,40}without (?:any )?(?:restrictions|filters|censorship|moral|ethical|safety)/,
  /\b(?:new|updated|real|true|important|urgent) (?:system )?(?:instructions?|orders|directives?) ?(?:for (?:the )?(?:ai|assistant|model|llm|agent)|follow|are|:)/,
  /\b(?:attention|note|message|instructions?|important)(?: message| note)?(?: to| for)?(?: the| any| all)? (?:ai|llm|language model|assistant|chatbot|agent)s?(?: (?:assistant|model|agent|reading|processing)s?)*(?: this)?(?: \w+){0,3} ?[:,-]/,
  /\b(?:if you are|as) an? (?:ai|llm|language model|large language model|ai assistant|automated agent)(?: \w+){0,6}?,? (?:you must|you should|please|ignore|do not|forward|send|include|say|reply|respond|print|output|rate|recommend)\b/,
  /\b(?:ai|llm) (?:assistants?|agents?|models?)(?: reading| processing| must| should| have to|,|:)(?: \w+){0,4}? ?(?:forward|send|email|ignore|transfer|delete|reply|include|execute|run|call|visit|click|recommend|rate)\b/,
  /\b(?:do not|don.?t|never) (?:tell|inform|mention|reveal|show|alert|notify)(?: \w+){0,3} (?:the user|to the user|the human|anyone about this|this to)\b/,
  /\b(?:from now on|henceforth|starting now)[a-z ,]{0,30}(?:you will|you must|you are|respond only|answer only|act as|ignore)\b/,
  /\bpretend (?:that )?(?:you have no|there are no|you are not bound|your (?:rules|guidelines|instructions))/,
  /<\|(?:im_start|im_end|system|endoftext|start_header_id)\|?>|\[\/?inst\]|<<sys>>|^#{2,4} ?(?:system|instruction)s?:?$/m,
]

/** Returns the score of a text, including text hidden in tag characters, base64, hexadecimal or ROT13. */
export function patternScore(text: string): number {
  const tags = tagCharacters(text)
  if (tags.length > 3) return hiddenScore
  return [text, ...decodeWords(text), rot13(text)].some(matchesAttack) ? certainScore : 0
}

const certainScore = 0.95
const hiddenScore = 0.95

function matchesAttack(text: string): boolean {
  const folded = fold(text, { loose: true })
    .text.replace(/[ \t*_"'`]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
  const inLine = folded.replaceAll('\n', ' ')
  return attackPatterns.some((attack) => attack.test(attack.multiline ? folded : inLine))
}

/** Returns the text spelled by invisible tag characters, except those in flags. */
function tagCharacters(text: string): string {
  const tags = text.replace(/\u{1f3f4}[\u{e0020}-\u{e007f}]{1,8}/gu, '').match(/[\u{e0020}-\u{e007e}]/gu) ?? []
  return tags.map((char) => String.fromCharCode((char.codePointAt(0) as number) - 0xe0000)).join('')
}

/** Decodes long words as base64 and hexadecimal. */
function decodeWords(text: string): string[] {
  const words = text.match(/[A-Za-z0-9+/_-]{20,4000}={0,2}/g) ?? []
  return words.slice(0, 20).flatMap((word) => [fromBase64(word), fromHex(word)].filter((one) => one !== undefined))
}

function fromBase64(word: string): string | undefined {
  try {
    return asReadable(atob(word.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return undefined
  }
}

function fromHex(word: string): string | undefined {
  if (!/^(?:[0-9A-Fa-f]{2})+$/.test(word)) return undefined
  return asReadable(word.replace(/../g, (digits) => String.fromCharCode(Number.parseInt(digits, 16))))
}

const asReadable = (text: string): string | undefined =>
  /^[\s!-~]+$/.test(text) && text.includes(' ') ? text : undefined

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter < 'a' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
  })
}
