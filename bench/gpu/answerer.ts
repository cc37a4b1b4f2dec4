/** The process of one question: `tsx answerer.ts QUESTION PLAN.json`. */
import { readFileSync } from 'node:fs';
import { answerHere, MARK } from './ask.js';
import type { Plan } from './plan.js';

const [question = '', planFile = ''] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(planFile, 'utf8')) as Plan;
console.log(MARK + JSON.stringify(await answerHere(question, plan)));
