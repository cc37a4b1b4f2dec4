/** How well the shadow of an alias agrees with its model, so far. */
import type { Agreement } from '../../client/records.js';
import { AgreementReport } from '../agreement/agreement-report.js';
import { useRepeated } from '../live/use-repeated.js';
import type { Fact } from '../parts/facts.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { numberedChanges } from '../picture/compared-boxes.js';
import { service } from '../session/session.js';
import { grouped, plural } from '../text/format.js';

export function AliasAgreement({ name }: { name: string }) {
  const { answer, fault } = useRepeated(() => service.aliases.agreement(name));
  const agreement = answer.value;
  if (agreement === null) {
    if (fault.value !== null) return <Problem error={fault.value} />;
    return <Skeleton label="Reading the agreement" />;
  }
  const { model, shadow } = agreement;
  return (
    <>
      {fault.value !== null && <Problem error={fault.value} />}
      <Verdict agreement={agreement} />
      <AgreementReport
        report={agreement}
        names={[model, shadow]}
        times={agreement.images === 0 ? [null, null] : [agreement.model_ms, agreement.shadow_ms]}
        images={imagesOf(agreement)}
        read={comparedOf}
      />
    </>
  );
}

const comparedOf = ({ image, boxes }: Agreement['least'][number]) =>
  Promise.resolve({ size: image, boxes: numberedChanges(boxes) });

function Verdict({ agreement }: { agreement: Agreement }) {
  const { images, flagged, failed, shadow, latest_share: share, last_error: error } = agreement;
  return (
    <>
      <p class={flagged ? 'note' : 'fine'} role="status">
        {flagged
          ? 'Flagged: fewer than 90 % of the boxes of the latest 50 pictures agree.'
          : images === 0
            ? 'No picture is compared yet: the shadow looks at those that the model has answered once the service is idle.'
            : share === null
              ? 'Too early to judge: the latest 50 pictures have fewer than 20 boxes.'
              : 'Not flagged: the boxes of the latest 50 pictures agree by 90 % or more.'}
      </p>
      {failed > 0 && (
        <p class="fault">
          <Foreign text={`${shadow} has failed on ${plural(failed, 'picture')}: ${error ?? ''}`} />
        </p>
      )}
    </>
  );
}

function imagesOf({ images, dropped, failed }: Agreement): Fact[] {
  return [
    ['Images compared', grouped(images), 'The latest ones, at most 1,000, since the start'],
    ['Images dropped', grouped(dropped), 'The service was busy, or the picture was replaced'],
    ['Images failed', grouped(failed), 'On which the shadow has failed'],
  ];
}
