BEGIN TRANSACTION;
CREATE TABLE accounts (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, role TEXT NOT NULL, hash TEXT NOT NULL DEFAULT '',
        active INTEGER NOT NULL DEFAULT 1, created TEXT NOT NULL
    );
INSERT INTO "accounts" VALUES('reader','Robin Falk','robin@meridale.example','reader','',0,'2026-11-15T12:00:00+00:00');
INSERT INTO "accounts" VALUES('author','Avery Lindqvist','avery@meridale.example','author','',1,'2026-11-15T12:00:00+00:00');
INSERT INTO "accounts" VALUES('author2','Jonas Mbeki','jonas@meridale.example','author','',1,'2026-11-15T12:00:00+00:00');
INSERT INTO "accounts" VALUES('reviewer','Petra Voss','petra@meridale.example','reviewer','',1,'2026-11-15T12:00:00+00:00');
INSERT INTO "accounts" VALUES('reviewer2','Theo Nakamura','theo@meridale.example','reviewer','',1,'2026-11-15T12:00:00+00:00');
INSERT INTO "accounts" VALUES('admin','Ada Brandt','ada@meridale.example','admin','',1,'2026-11-15T12:00:00+00:00');
INSERT INTO "accounts" VALUES('zoe','Zoë Ünal','zoe@meridale.example','author','$argon2id$v=19$m=65536,t=3,p=4$u+ugDmmtl9D4tuUztqa8Aw$+0fYao6km4PoGt0LCxVF+OlQ1W4FJBgR6ecDw1/nxc0',1,'2026-11-15T12:00:00+00:00');
CREATE TABLE asked (
        id INTEGER PRIMARY KEY, who TEXT NOT NULL, query TEXT NOT NULL, link TEXT NOT NULL, starred INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL, UNIQUE (who, query)
    );
INSERT INTO "asked" VALUES(1,'author','photos','d91daada54',1,'2026-11-15T12:00:00+00:00');
INSERT INTO "asked" VALUES(2,'author','leave','b641cc9d4c',0,'2026-11-15T12:00:00+00:00');
CREATE TABLE attempts (id INTEGER PRIMARY KEY, account TEXT NOT NULL, at REAL NOT NULL);
INSERT INTO "attempts" VALUES(1,'zoe',1.79478467666596078873e+09);
CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, who TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL, door TEXT NOT NULL,
        action TEXT NOT NULL, what TEXT NOT NULL, change INTEGER NOT NULL DEFAULT 0, commit_id TEXT NOT NULL DEFAULT '', detail TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "audit" VALUES(1,'2026-11-15T12:00:00+00:00','repository','Repository','admin','repository','commit','Start',0,'fa4e890f2fb9cc00ac0cf2a24d773994d234073c','Ann Author <ann@example.org>');
INSERT INTO "audit" VALUES(2,'2026-11-15T12:00:00+00:00','admin','Ada Brandt','admin','app','add account','Zoë Ünal (zoe)',0,'','author');
INSERT INTO "audit" VALUES(3,'2026-11-15T12:00:00+00:00','zoe','Zoë Ünal','author','app','sign in','Zoë Ünal',0,'','');
INSERT INTO "audit" VALUES(4,'2026-11-15T12:00:00+00:00','zoe','zoe','nobody','app','refuse sign-in','zoe',0,'','wrong name or password');
INSERT INTO "audit" VALUES(5,'2026-11-15T12:00:00+00:00','admin','Ada Brandt','admin','app','switch account off','Robin Falk (reader)',0,'','');
INSERT INTO "audit" VALUES(6,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','propose','Seven days',1,'','');
INSERT INTO "audit" VALUES(7,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','submit','Seven days',1,'','');
INSERT INTO "audit" VALUES(8,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','comment','Seven days',1,'','ops/claims.md');
INSERT INTO "audit" VALUES(9,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','comment','Seven days',1,'','');
INSERT INTO "audit" VALUES(10,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','resolve conversation','Seven days',1,'','1');
INSERT INTO "audit" VALUES(11,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','approve','Seven days',1,'','68e999f6ca64133366bcbd24f78a7d0bf4ff4503');
INSERT INTO "audit" VALUES(12,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','merge','Seven days',1,'3890cb0ce2db599822e9926a1faa8827e4ef7ec6','');
INSERT INTO "audit" VALUES(13,'2026-11-15T12:00:00+00:00','author2','Jonas Mbeki','author','app','propose','Draft of leave',2,'','');
INSERT INTO "audit" VALUES(14,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','propose','Token by mail',3,'','');
INSERT INTO "audit" VALUES(15,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','submit','Token by mail',3,'','');
INSERT INTO "audit" VALUES(16,'2026-11-15T12:00:00+00:00','reviewer2','Theo Nakamura','reviewer','app','comment','Token by mail',3,'','it/vpn.md');
INSERT INTO "audit" VALUES(17,'2026-11-15T12:00:00+00:00','reviewer2','Theo Nakamura','reviewer','app','request changes','Token by mail',3,'','d547554c75deffb662964d4440a81a3035cdc4e4');
INSERT INTO "audit" VALUES(18,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','propose','Parental leave',4,'','');
INSERT INTO "audit" VALUES(19,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','submit','Parental leave',4,'','');
INSERT INTO "audit" VALUES(20,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','approve','Parental leave',4,'','fdcfd68832b8db52f21e9f74cef592ed6899e92d');
INSERT INTO "audit" VALUES(21,'2026-11-15T12:00:00+00:00','author2','Jonas Mbeki','author','app','propose','No longer',5,'','');
INSERT INTO "audit" VALUES(22,'2026-11-15T12:00:00+00:00','author2','Jonas Mbeki','author','app','close','No longer',5,'','Not needed.');
INSERT INTO "audit" VALUES(23,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','confirm','VPN',0,'e0243e1569f81c5ce30e7d23dde66f5f1e258454','it/vpn.md until 2027-05-01');
CREATE TABLE calls (
        id INTEGER PRIMARY KEY, at TEXT NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL, input_tokens INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, dollars REAL NOT NULL DEFAULT 0,
        cached INTEGER NOT NULL DEFAULT 0, failed TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "calls" VALUES(1,'2026-11-15T12:00:00+00:00','rerank','openai:small',120,4,0.0,0.0,1,'');
INSERT INTO "calls" VALUES(2,'2026-11-15T12:00:00+00:00','rerank','openai:small',900,5,1.25,2.5,0,'');
CREATE TABLE changes (
        id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, description TEXT NOT NULL DEFAULT '', author TEXT NOT NULL, author_name TEXT NOT NULL,
        stage TEXT NOT NULL, start TEXT NOT NULL DEFAULT '', head TEXT NOT NULL DEFAULT '', merged TEXT NOT NULL DEFAULT '', reverts INTEGER NOT NULL DEFAULT 0,
        bypass TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, updated TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', ended_by TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "changes" VALUES(1,'Seven days','Longer.','author','Avery Lindqvist','merged','fa4e890f2fb9cc00ac0cf2a24d773994d234073c','68e999f6ca64133366bcbd24f78a7d0bf4ff4503','3890cb0ce2db599822e9926a1faa8827e4ef7ec6',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','Avery Lindqvist');
INSERT INTO "changes" VALUES(2,'Draft of leave','','author2','Jonas Mbeki','draft','3890cb0ce2db599822e9926a1faa8827e4ef7ec6','','',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','','');
INSERT INTO "changes" VALUES(3,'Token by mail','','author','Avery Lindqvist','in review','3890cb0ce2db599822e9926a1faa8827e4ef7ec6','','',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','','');
INSERT INTO "changes" VALUES(4,'Parental leave','','author','Avery Lindqvist','in review','3890cb0ce2db599822e9926a1faa8827e4ef7ec6','','',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','','');
INSERT INTO "changes" VALUES(5,'No longer','','author2','Jonas Mbeki','closed','3890cb0ce2db599822e9926a1faa8827e4ef7ec6','6120390339685490f1bf581289b84e636fdbc971','',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','Jonas Mbeki');
CREATE TABLE comments (
        id INTEGER PRIMARY KEY, change INTEGER NOT NULL REFERENCES changes (id), thread INTEGER NOT NULL DEFAULT 0, path TEXT NOT NULL DEFAULT '',
        line INTEGER NOT NULL DEFAULT 0, last INTEGER NOT NULL DEFAULT 0, quote TEXT NOT NULL DEFAULT '', who TEXT NOT NULL, name TEXT NOT NULL,
        body TEXT NOT NULL, at TEXT NOT NULL, resolved TEXT NOT NULL DEFAULT '', applied TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "comments" VALUES(1,1,0,'ops/claims.md',8,8,'Send photos within 7 days. Keep the receipt.','reviewer','Petra Voss','Why?','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','');
INSERT INTO "comments" VALUES(2,1,1,'ops/claims.md',0,0,'','author','Avery Lindqvist','Holidays.','2026-11-15T12:00:00+00:00','','');
INSERT INTO "comments" VALUES(3,3,0,'it/vpn.md',8,8,'Connect with the client. Write to the desk for a token.','reviewer2','Theo Nakamura','Better:
```suggestion
Connect with the client. Write to the service desk.
```','2026-11-15T12:00:00+00:00','','');
CREATE TABLE configurations (
        name TEXT PRIMARY KEY, profile TEXT NOT NULL, config TEXT NOT NULL, who TEXT NOT NULL, created TEXT NOT NULL
    );
INSERT INTO "configurations" VALUES('Words only','local','{"alpha":0.5,"alpha_from":"fixed","alpha_model":"","depth":10,"fusion":"single","hyde":false,"k":10,"legs":["bm25"],"missing":"exact","normalisation":"none","parents":false,"rerank":"off","rerank_blend":0.0,"rerank_depth":20,"rerank_model":"","rerank_prompt":"one-shot","reranker":"cross-encoder","rrf_k":60,"tau":1.0,"weights":{}}','author','2026-11-15T12:00:00+00:00');
CREATE TABLE drafts (who TEXT NOT NULL, place TEXT NOT NULL, text TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (who, place));
INSERT INTO "drafts" VALUES('author','new','# Half a thought
','2026-11-15T12:00:00+00:00');
CREATE TABLE gaps (
        id INTEGER PRIMARY KEY, query TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', who TEXT NOT NULL, hits INTEGER NOT NULL,
        commit_id TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, closed TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "gaps" VALUES(1,'parking at night','Nobody knows','Avery Lindqvist',0,'e0243e1569f81c5ce30e7d23dde66f5f1e258454','2026-11-15T12:00:00+00:00','');
INSERT INTO "gaps" VALUES(2,'how to fax','','Ada Brandt',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00');
CREATE TABLE jobs (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0,
        total INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '', result TEXT NOT NULL DEFAULT '',
        attempts INTEGER NOT NULL DEFAULT 0, cancel INTEGER NOT NULL DEFAULT 0, created TEXT NOT NULL, started TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "jobs" VALUES(1,'reindex','{"full": false, "profile": "local"}','queued',0,0,'','','',0,0,'2026-11-15T12:00:00+00:00','','');
INSERT INTO "jobs" VALUES(2,'verify','{}','done',3,3,'Checked','','{"ok": true, "problems": []}',1,0,'2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00');
INSERT INTO "jobs" VALUES(3,'evaluate','{"pairs": [["", "bm25"]], "queryset": "gone", "unit": "document"}','failed',0,0,'','There is no query set ''gone''. Query sets: small. Make one with: python -m core eval generate','null',1,0,'2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00');
INSERT INTO "jobs" VALUES(4,'generate','{"kind": "known-items", "name": "later", "per_category": 3, "seed": 7, "who": ["author", "Avery Lindqvist", "avery@meridale.example", "author"]}','queued',0,0,'','','',0,0,'2026-11-15T12:00:00+00:00','','');
INSERT INTO "jobs" VALUES(5,'generate','{"kind": "known-items", "name": "by-hand", "per_category": 3, "seed": 7, "who": ["robin@localhost", "robin", "robin@localhost", "admin"]}','queued',0,0,'','','',0,0,'2026-11-15T12:00:00+00:00','','');
INSERT INTO "jobs" VALUES(6,'evaluate','{"pairs": [["", "dense"]], "queryset": "small", "unit": "document"}','queued',0,0,'','','',0,0,'2026-11-15T12:00:00+00:00','','');
CREATE TABLE judged (
        id INTEGER PRIMARY KEY, query TEXT NOT NULL, path TEXT NOT NULL, heading TEXT NOT NULL, quote TEXT NOT NULL,
        grade INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 3), judge TEXT NOT NULL, blind INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL, UNIQUE (query, path, heading, quote, judge)
    );
INSERT INTO "judged" VALUES(1,'photos','ops/claims.md','','# Claims Send photos within 7 days. Keep the receipt.',3,'author',0,'2026-11-15T12:00:00+00:00');
INSERT INTO "judged" VALUES(2,'photos','ops/claims.md','','# Claims Send photos within 7 days. Keep the receipt.',1,'admin',1,'2026-11-15T12:00:00+00:00');
CREATE TABLE permalinks (id TEXT PRIMARY KEY, state TEXT NOT NULL, who TEXT NOT NULL, created TEXT NOT NULL);
INSERT INTO "permalinks" VALUES('d91daada54','{"blind":false,"columns":[{"config":{"alpha":0.5,"alpha_from":"fixed","alpha_model":"","depth":10,"fusion":"single","hyde":false,"k":10,"legs":["bm25"],"missing":"exact","normalisation":"none","parents":false,"rerank":"off","rerank_blend":0.0,"rerank_depth":20,"rerank_model":"","rerank_prompt":"one-shot","reranker":"cross-encoder","rrf_k":60,"tau":1.0,"weights":{}},"name":"Words only","profile":"local"}],"document":"","filters":{"docs":[],"folders":[],"freshness":[],"history":false,"owners":[],"statuses":[],"tags":[],"types":[]},"query":"photos","tool":""}','author','2026-11-15T12:00:00+00:00');
INSERT INTO "permalinks" VALUES('b641cc9d4c','{"blind":false,"columns":[{"config":{"alpha":0.5,"alpha_from":"fixed","alpha_model":"","depth":10,"fusion":"single","hyde":false,"k":10,"legs":["bm25"],"missing":"exact","normalisation":"none","parents":false,"rerank":"off","rerank_blend":0.0,"rerank_depth":20,"rerank_model":"","rerank_prompt":"one-shot","reranker":"cross-encoder","rrf_k":60,"tau":1.0,"weights":{}},"name":"Words only","profile":"local"}],"document":"","filters":{"docs":[],"folders":[],"freshness":[],"history":false,"owners":[],"statuses":[],"tags":[],"types":[]},"query":"leave","tool":""}','author','2026-11-15T12:00:00+00:00');
CREATE TABLE queryset_judgments (
        id INTEGER PRIMARY KEY, queryset INTEGER NOT NULL REFERENCES querysets (id), question TEXT NOT NULL, path TEXT NOT NULL,
        heading TEXT NOT NULL DEFAULT '[]', quote TEXT NOT NULL DEFAULT '', grade REAL NOT NULL, source TEXT NOT NULL,
        judge TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, UNIQUE (queryset, question, path, heading, quote, source, judge)
    );
INSERT INTO "queryset_judgments" VALUES(1,1,'q1','ops/claims.md','["Claims"]','Send photos within 7 days.',2.0,'person','author','2026-11-15T12:00:00+00:00');
INSERT INTO "queryset_judgments" VALUES(2,1,'q2','it/vpn.md','[]','',1.0,'import','','2026-11-15T12:00:00+00:00');
INSERT INTO "queryset_judgments" VALUES(3,1,'q3','hr/leave.md','[]','',1.0,'import','','2026-11-15T12:00:00+00:00');
INSERT INTO "queryset_judgments" VALUES(4,1,'q1','hr/leave.md','[]','',0.0,'person','admin','2026-11-15T12:00:00+00:00');
CREATE TABLE queryset_questions (
        queryset INTEGER NOT NULL REFERENCES querysets (id), id TEXT NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL,
        category TEXT NOT NULL DEFAULT '', PRIMARY KEY (queryset, id)
    );
INSERT INTO "queryset_questions" VALUES(1,'q1',0,'how fast to send photos','claims');
INSERT INTO "queryset_questions" VALUES(1,'q2',1,'who gives a token','it');
INSERT INTO "queryset_questions" VALUES(1,'q3',2,'when to ask for leave','');
CREATE TABLE querysets (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, about TEXT NOT NULL DEFAULT '', guidelines TEXT NOT NULL DEFAULT '',
        who TEXT NOT NULL DEFAULT '', created TEXT NOT NULL
    );
INSERT INTO "querysets" VALUES(1,'small','three questions','Read the question, then the passage. 2: it answers the question. 1: it helps, but more is needed. 0: it does not help. Judge the passage, not the document around it, and do not guess what the system meant.','Avery Lindqvist','2026-11-15T12:00:00+00:00');
CREATE TABLE rankings (search TEXT NOT NULL, query TEXT NOT NULL, result BLOB NOT NULL, PRIMARY KEY (search, query));
INSERT INTO "rankings" VALUES('legs-6778152ce70bb1d5','how fast to send photos',X'789C4D4ECD0E8330087E17CED84029B6F82AC68BB3D9656E87EE667CF7A166CB920F12F87E608347BD37183698D7A8308C639C70E45034B3714AE28856C497847CF440E8355D0D96FA6CF5B4E1975731512BA54866323D84D85160D244167B662D1CAD57179FE8D8937684F5EF0D97734E08759DEB028386DED37ED79C8D246EB9BDDADBC7FD03E9B43113');
INSERT INTO "rankings" VALUES('legs-6778152ce70bb1d5','who gives a token',X'789C4D4E310EC33008FC0BB35B816D62C857AC2C69AC2E753BB85B94BF173B55550910C7DD013B3CCABDC1BCC35A3DC39C332D2EE35505C5AB0F224A13D2D487CE0F0A9DE57216D8CAB3956E43475F9EBCA26A8C81394A121F4C4A948489821045B5BDA73B8FB890F58783FAF786D1C941A96BD906600CBF5B1DB29AE1F66A6F83C707904C30AA');
INSERT INTO "rankings" VALUES('legs-6778152ce70bb1d5','when to ask for leave',X'789C4D8E310EC3300845EFE2D9B5C080C1B98A95258DD5A56987748B72F75257AA2A01D2FF82F739C2BDDFF6301D61D9B284A9358838C786A98A9A482DB51465628D905801800A71A998C9D8F7B2372498E31861ED8FBD7F2979702089531840D0B2287E30C468862A6460456DA051DD719F49910094FC76D4051D7CC6B0FD3DE9595A63E8DBD2D7A184F32F7BC8EA17D7E7FE7279BE01375D371C');
INSERT INTO "rankings" VALUES('390765b373416560','how fast to send photos',X'789C258EC10E83201044FF65CF1BC28228F82B4D0F8A6B6B8C9880A64D8CFF5EA07BDB993799B9C0BFCFB026E81F0A25D21321F93D7211484894425AEA1AB22D1947648CD645CB98DFC3BC4C1C3C435F48D872E6827153067A2928A710781B7982DE88D6EA0E21E389ABABA44698CFFFA71B6DACCB6795CB55AE45881C87B056549A1BE133C4B084579955BBD3913D8483BF47D5EE1F1A8536B3');
INSERT INTO "rankings" VALUES('390765b373416560','who gives a token',X'789C658E3D0E83300C85EFE2D94226C180B94AD501826911224804D44A88BB3784B18387EFFD58EF00F7DEFD14A079E448689E08C12DAB5E0265C26561B91091DC92A991328E4731E4163F8CBD7AA7D0FCE7608EFD03BAD9F0655385A073A77D02268B10AB416F644118F69B4C65F3A28E7F6A61E29211565D5B3FA5A49472227CDAD58FFE750D4C3BC2164D844DBF5BD2CE1F082438E0');
INSERT INTO "rankings" VALUES('390765b373416560','when to ask for leave',X'789C2D8E4B0E83300C44EFE2B5859C7FC255AA2E208416218294805A0971F72650EFE6CD8CED03FC7B8F7386F641C8903F11B25F53A8803584D4304E248859ADAC74C2315B58414E48C1B9E5529012A6D4FC1AC76908D107686B1396B2E3807EE10A5A6AC83884B0F461B894921CA1A473F8CBE28EFBAD98D6D21957C76ACBB54448217571BEA3469E089F2EC529BEEA9BD7EDBC1513610BDFED62E70FF1F539F9');
CREATE TABLE runs (
        id TEXT PRIMARY KEY, queryset TEXT NOT NULL, queryset_digest TEXT NOT NULL, unit TEXT NOT NULL, search TEXT NOT NULL,
        profile TEXT NOT NULL, config TEXT NOT NULL, generation INTEGER NOT NULL, commit_id TEXT NOT NULL, facts TEXT NOT NULL,
        results BLOB NOT NULL, created TEXT NOT NULL
    );
INSERT INTO "runs" VALUES('f7061ce23198','small','a032e41601f7','document','786ed5bbc60f6110','local','5068b5db42b9',2,'e0243e1569f81c5ce30e7d23dde66f5f1e258454','{"id": "f7061ce23198", "queryset": "small", "queryset_digest": "a032e41601f7", "unit": "document", "profile": "local", "profile_digest": "87d89c160a", "config": {"legs": ["bm25"], "depth": 10, "normalisation": "none", "fusion": "single", "alpha": 0.5, "rrf_k": 60, "weights": {}, "missing": "exact", "rerank": "off", "tau": 1.0, "rerank_depth": 20, "k": 10, "reranker": "cross-encoder", "rerank_model": "", "rerank_prompt": "one-shot", "rerank_blend": 0.0, "hyde": false, "alpha_from": "fixed", "alpha_model": "", "parents": false}, "config_digest": "5068b5db42b9", "generation": 2, "commit": "e0243e1569f81c5ce30e7d23dde66f5f1e258454", "models": [], "created": "2026-11-15T12:00:00+00:00", "seconds": 0.052, "questions": 3, "unmapped": [], "figures": {"nDCG@10": 1.0, "Recall@5": 1.0, "Recall@10": 1.0, "Recall@100": 1.0, "MRR@10": 1.0, "MAP@10": 1.0, "P@1": 1.0, "P@5": 0.2, "Judged@10": 0.833333, "AT1S": 1.598626, "T1EM": 1.0, "T5EM": 1.0, "T1C": 1.0, "BC": 1.0, "AC": 1.0, "MC": 1.0, "SpanMRR": 1.0}, "times": {"bm25": {"p50": 0.079, "p95": 0.114}, "fuse": {"p50": 0.092, "p95": 0.124}, "total": {"p50": 0.171, "p95": 0.238}}, "warnings": [], "cost": 0.0, "results": null}',X'789CCD934D6BDB401086FF8AD8B3B0F74BFBE153DCB4140A86E2F8167C584B235944D62ADAB5D312FADF3B327614BB69686F0109DED9196666DF87BD7F268F7B08B1F62D993D93BA2033F2C8484A22FC88A8B7FE29295D8849F44980B648BAAD8F3E6041EE2254BEFF894579E3EA5D20BF5272700D761B3AB59F6FBFDE304A666C4253B284DC35CD4D76195EA7193D1F2C96CB31BB987F1F03942F0ADBD1094FC9B77D514131D6CC57EC6E9026D3CC3229057E2959B12F8B53C12A1B25BB3DA94F67313F8BC559DC75AEC5958E11DEB2F0F97E076DC48BDE13DF85E9C980754A3A1782ABE09829D8064A61722185D3AC2887FCEE68CE66C78FBB33A6654ACA7D8063C4B516CA5AABB95528258ECA7D5BD605B4399C56297D53408FA6E3DC0193AB8659EBA132C4A10B2EF816533E327DDAFAA4AA0F101287581FA0BDA459C78F46924EACA1865B2E8CB1FC1A401DA787AEBD365F6A30CC582944964B4EED9FE6533D5A4F8D3242A2F586E12F957AD77A74E83F9C17AF9D877678492E3C24A5EF9306DC012EDDFF10DED34936BE229B6993655659A5F4B5F7DB7E7ABEC3DB18E826032DA546028A49C8B0F05FC8D857682C974A0C6814C755B87917CDB6FF0B9AF56FAC375776','2026-11-15T12:00:00+00:00');
INSERT INTO "runs" VALUES('a62d291d859d','small','a032e41601f7','document','390765b373416560','local','c1d85ef126df',2,'e0243e1569f81c5ce30e7d23dde66f5f1e258454','{"id": "a62d291d859d", "queryset": "small", "queryset_digest": "a032e41601f7", "unit": "document", "profile": "local", "profile_digest": "87d89c160a", "config": {"legs": ["bm25", "dense"], "depth": 10, "normalisation": "minmax", "fusion": "convex", "alpha": 0.5, "rrf_k": 60, "weights": {}, "missing": "exact", "rerank": "always", "tau": 1.0, "rerank_depth": 20, "k": 10, "reranker": "cross-encoder", "rerank_model": "", "rerank_prompt": "one-shot", "rerank_blend": 0.0, "hyde": false, "alpha_from": "fixed", "alpha_model": "", "parents": false}, "config_digest": "c1d85ef126df", "generation": 2, "commit": "e0243e1569f81c5ce30e7d23dde66f5f1e258454", "models": ["bge-small-en-v1.5-int8", "ms-marco-minilm-l12-int8"], "created": "2026-11-15T12:00:00+00:00", "seconds": 0.027, "questions": 3, "unmapped": [], "figures": {"nDCG@10": 1.0, "Recall@5": 1.0, "Recall@10": 1.0, "Recall@100": 1.0, "MRR@10": 1.0, "MAP@10": 1.0, "P@1": 1.0, "P@5": 0.2, "Judged@10": 0.444444, "AT1S": 0.985478, "T1EM": 1.0, "T5EM": 1.0, "T1C": 1.0, "BC": 1.0, "AC": 0.333333, "MC": 1.0, "SpanMRR": 1.0}, "times": {"bm25": {"p50": 0.079, "p95": 0.114}, "embed": {"p50": 0.054, "p95": 5.121}, "dense": {"p50": 0.056, "p95": 0.114}, "fuse": {"p50": 0.273, "p95": 0.337}, "rerank": {"p50": 0.097, "p95": 0.104}, "total": {"p50": 0.546, "p95": 5.788}}, "warnings": [], "cost": 0.0, "results": null}',X'789CCD94C16EA33010865F05F98C121B6CC039359BAD2AAD146995F656E5E0C090A0804D31497755EDBBEF40438024AA72AC4F33F630F6CCF70FAF1FE4ED00B6CE8C26B30F92256446DE1871490D7F6AB477E6DD4995AD9DDA381674E2943B531B8B01B1AA616BAABF1814E72A2B2CF9E792A3CA315B9349FF5C3C3D304A666C425DB28258E5F98318BB97C78C761BCBD5AA3F5DCE7FF70E9A670BD3D189E7925F87640B491B432741BF4297CC5FD8F329FE853D2E3B53F4265B9CAC1F9D315F3479FCC1C2377487CFA5D2F8BAD6C38213131F0AD035D6FC4A4C69A7A75EB864574D7350474033ABA7C75293B54B4A65ADDA421B9DB00DA47E14FBDC57214B520CA41B0121E7A14765C03808DCE221442C92DCF745CC71BFC952B41DDE145EDB00C642EE12283680F0C424887CAC3B016DA13DF5283E3F3D7C7A78978824AEC8931CD3062EA9A0527ADF86528115C546A7197E1EC3A9E2D4E409548819CB6B84A1B6CDF3D74DA4458960176E69C8EB35F4BE33CE363B827514CA680F7AAC9EACFE26CA1913FF540E9D481160D338F68CF997C04F6047B00722B8007E85F226F02B595C01A7E119373AA2E17BC64D85903D6E2FF4196F784752501188216DBC515EE0EE8A1503E848E76EE6FE9039E8E69FA1ECDE494DE574DD1970FFC6D46FCCF6F5387F85FA9E41BE0FB51CB1E6DE88351FB06641C06528DBE10E222FE023D822E45FCEF6AEBA8979FD1FFD9BA971','2026-11-15T12:00:00+00:00');
CREATE TABLE verdicts (
        id INTEGER PRIMARY KEY, change INTEGER NOT NULL REFERENCES changes (id), who TEXT NOT NULL, name TEXT NOT NULL, head TEXT NOT NULL,
        verdict TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', at TEXT NOT NULL
    );
INSERT INTO "verdicts" VALUES(1,1,'reviewer','Petra Voss','68e999f6ca64133366bcbd24f78a7d0bf4ff4503','approved','Fine.','2026-11-15T12:00:00+00:00');
INSERT INTO "verdicts" VALUES(2,3,'reviewer2','Theo Nakamura','d547554c75deffb662964d4440a81a3035cdc4e4','changes requested','Say which desk.','2026-11-15T12:00:00+00:00');
INSERT INTO "verdicts" VALUES(3,4,'reviewer','Petra Voss','fdcfd68832b8db52f21e9f74cef592ed6899e92d','approved','','2026-11-15T12:00:00+00:00');
CREATE INDEX jobs_state ON jobs (state);
CREATE INDEX audit_commit ON audit (commit_id);
CREATE INDEX verdicts_change ON verdicts (change);
CREATE INDEX comments_change ON comments (change);
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_grows BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE INDEX calls_at ON calls (at);
CREATE INDEX runs_queryset ON runs (queryset, created);
CREATE INDEX audit_change ON audit (change);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit',23);
INSERT INTO "sqlite_sequence" VALUES('changes',5);
COMMIT;
PRAGMA user_version = 8;
