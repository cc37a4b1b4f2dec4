/** An error: what happened, what to do, and what support asks for. */
import type { ComponentChildren } from 'preact';
import { isProblem, ServiceError } from '../../client/service-error.js';
import { CopyButton } from './copy-button.js';
import { Foreign } from './foreign.js';

/** The fields that an error answer and the record of a job have. */
export type ShownProblem = Pick<ServiceError, 'title' | 'detail'> &
  Partial<Pick<ServiceError, 'request_id' | 'errors'>> & { code: string };

/** `children` are the buttons that correct it. */
export function Problem({ error, children }: { error: unknown; children?: ComponentChildren }) {
  const problem = problemOf(error);
  const rules = (problem.errors ?? []).filter(({ detail }) => detail !== problem.detail);
  const request = problem.request_id;
  return (
    <div class="problem" role="alert">
      <p class="problem-title">{problem.title}</p>
      <p>
        <Foreign text={problem.detail} />
      </p>
      {rules.length > 0 && (
        <ul>
          {rules.map(({ detail, pointer }) => (
            <li key={`${pointer} ${detail}`}>
              <Foreign text={pointer === undefined ? detail : `${pointer}: ${detail}`} />
            </li>
          ))}
        </ul>
      )}
      {children !== undefined && <p class="row">{children}</p>}
      <p class="fine">
        <code>{problem.code}</code>
        {request !== undefined && (
          <>
            {' '}
            request <code>{request}</code> <CopyButton text={request} what="request id" />
          </>
        )}
      </p>
    </div>
  );
}

function problemOf(error: unknown): ShownProblem {
  if (error instanceof ServiceError || isProblem(error)) return error;
  return { title: 'Error in this page', code: 'page', detail: String(error) };
}
