import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import type { ActivityItem } from "../../model/account.ts";
import type { Page } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { clientIpText } from "../../ui/client-ip.ts";
import { Item, Items } from "../../ui/items.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import css from "./account.module.css";
import { activityInWords } from "./activity-words.ts";
import { programOf } from "./user-agent.ts";

/** Large enough for most accounts: each page is one of the 5 calls a minute of `/auth`. */
const PAGE_SIZE = 100;

/** The account's sign-ins and changes, loaded on a click like the sessions. */
export function Activity() {
  const [isShown, setIsShown] = useState(false);
  return (
    <Card title="Activity">
      {isShown ? (
        <List />
      ) : (
        <div class={css.between}>
          <span>Sign-ins, ended sessions and changes in the last 365 days.</span>
          <Button onClick={() => setIsShown(true)}>Show activity</Button>
        </div>
      )}
    </Card>
  );
}

async function pageAt(cursor: string | null, signal?: AbortSignal): Promise<Page<ActivityItem>> {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor === null ? {} : { cursor }) });
  return (await authorized<Page<ActivityItem>>(`/auth/me/activity?${query}`, signal ? { signal } : {})).data;
}

function List() {
  const { data, failure, reload, put } = useLoad("activity", (signal) => pageAt(null, signal));
  const more = useAction(async () => {
    if (!data) return;
    const page = await pageAt(data.nextCursor);
    put({ items: [...data.items, ...page.items], nextCursor: page.nextCursor });
  });
  if (data === null) return failure ? <Failure failure={failure} onRetry={reload} /> : <Loading />;
  if (data.items.length === 0) return <p>Nothing has been recorded yet.</p>;
  return (
    <>
      <Items label="Activity, newest first">
        {data.items.map((item) => (
          <Item
            key={item.id}
            title={activityInWords(item)}
            facts={[
              ["When", <Time key="at" at={item.at} />],
              item.address === null ? null : ["IP address", clientIpText(item.address)],
              item.userAgent === null
                ? null
                : [
                    "Program",
                    <span key="program" title={item.userAgent}>
                      {programOf(item.userAgent)}
                    </span>,
                  ],
            ]}
          />
        ))}
      </Items>
      <Problem failure={more.failure} />
      {data.nextCursor === null ? null : (
        <Row>
          <Button busy={more.busy} onClick={() => void more.run()}>
            Show older
          </Button>
        </Row>
      )}
    </>
  );
}
